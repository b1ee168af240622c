package casebook;

import java.util.Map;

/** A fixture or a script that cannot be built. Any other exception is a fault of this adapter. */
abstract class Unbuildable extends Exception {
  private static final long serialVersionUID = 1L;

  Unbuildable(String message, Throwable cause) {
    super(message, cause);
  }

  abstract Map<String, Object> answer();

  /** The SDK's public API cannot express the fixture or the script. */
  static final class Cannot extends Unbuildable {
    private static final long serialVersionUID = 1L;

    Cannot(String why) {
      super(why, null);
    }

    @Override
    Map<String, Object> answer() {
      return Map.of("cannot", getMessage());
    }
  }

  /** The SDK threw an exception while it built the server. */
  static final class Refused extends Unbuildable {
    private static final long serialVersionUID = 1L;

    private final String tool;

    Refused(Throwable thrown) {
      this(thrown, null);
    }

    /** The exception that the SDK threw at one tool. */
    Refused(Throwable thrown, String tool) {
      super(thrown.getMessage(), thrown);
      this.tool = tool;
    }

    @Override
    Map<String, Object> answer() {
      var refused = Adapter.describeError(getCause());
      if (tool != null) {
        refused.put("tool", tool);
      }
      return Map.of("refused", refused);
    }
  }
}
