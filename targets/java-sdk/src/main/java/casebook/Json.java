package casebook;

import com.fasterxml.jackson.annotation.JsonRawValue;
import com.fasterxml.jackson.annotation.JsonValue;
import java.io.StringWriter;
import tools.jackson.core.JsonParser;
import tools.jackson.core.StreamReadConstraints;
import tools.jackson.core.StreamWriteConstraints;
import tools.jackson.core.json.JsonFactory;
import tools.jackson.databind.DeserializationContext;
import tools.jackson.databind.DeserializationFeature;
import tools.jackson.databind.ValueDeserializer;
import tools.jackson.databind.annotation.JsonDeserialize;
import tools.jackson.databind.json.JsonMapper;

/**
 * The text of a JSON value, which only the SDK reads or writes. A missing value is a Java {@code
 * null}.
 */
@JsonDeserialize(using = Json.Reader.class)
record Json(@JsonRawValue @JsonValue String text) {

  /** Reads and writes the lines of the control stream, which may be long and deep. */
  static final JsonMapper LINES =
      JsonMapper.builder(
              JsonFactory.builder()
                  .streamReadConstraints(
                      StreamReadConstraints.builder()
                          .maxNestingDepth(Integer.MAX_VALUE)
                          .maxNumberLength(Integer.MAX_VALUE)
                          .maxStringLength(Integer.MAX_VALUE)
                          .build())
                  .streamWriteConstraints(
                      StreamWriteConstraints.builder().maxNestingDepth(Integer.MAX_VALUE).build())
                  .build())
          .disable(DeserializationFeature.FAIL_ON_UNKNOWN_PROPERTIES)
          .build();

  /** Copies a value token by token, without recursion and without a change to its numbers. */
  static final class Reader extends ValueDeserializer<Json> {
    @Override
    public Json deserialize(JsonParser parser, DeserializationContext context) {
      var text = new StringWriter();
      try (var generator = LINES.createGenerator(text)) {
        generator.copyCurrentStructureExact(parser);
      }
      return new Json(text.toString());
    }

    @Override
    public Json getNullValue(DeserializationContext context) {
      return new Json("null");
    }

    @Override
    public Object getAbsentValue(DeserializationContext context) {
      return null;
    }
  }
}
