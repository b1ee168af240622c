package casebook;

import java.util.Map;

/** A way in which a fixture comes to nothing; other exceptions are this adapter's own faults. */
abstract class Unbuildable extends Exception {
  private static final long serialVersionUID = 1L;

  Unbuildable(String message, Throwable cause) {
    super(message, cause);
  }

  abstract Map<String, Object> answer();

  /** The SDK's public API has no way to express the fixture. */
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

  /** The SDK threw at what it was given to build. */
  static final class Refused extends Unbuildable {
    private static final long serialVersionUID = 1L;

    Refused(Throwable thrown) {
      super(thrown.getMessage(), thrown);
    }

    @Override
    Map<String, Object> answer() {
      return Map.of("refused", Adapter.described(getCause()));
    }
  }
}
