import io.modelcontextprotocol.json.McpJsonDefaults;
import java.util.List;
import java.util.Map;

/** The validator keeps compiled schemas by Map.hashCode(), so one schema stands in for another with the same hash. */
class OneHash {
  public static void main(String[] arguments) {
    var validator = McpJsonDefaults.getSchemaValidator();
    var first = schema("Aa");
    var second = schema("BB");
    System.out.println("\"Aa\" for " + first + ": " + validator.validate(first, Map.of("v", "Aa")).valid());
    var valid = validator.validate(second, Map.of("v", "BB")).valid();
    var invalid = validator.validate(second, Map.of("v", "Aa")).valid();
    System.out.println("\"BB\" for " + second + ": " + valid + ", \"Aa\": " + invalid);
    System.exit(!valid && invalid ? 0 : 1);
  }

  private static Map<String, Object> schema(String allowed) {
    return Map.of("properties", Map.of("v", Map.of("enum", List.of(allowed))));
  }
}
