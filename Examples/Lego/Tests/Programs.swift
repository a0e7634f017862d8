import ExampleTesting
import LegoCache

/// The names that the program of the page uses without a declaration.
struct Programs {
  let path, key: String
  let transport: any HTTPTransport
}
