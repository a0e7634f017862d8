import ExampleTesting
import LegoCache

/// What the program of the page names.
struct Programs {
  let path, key: String
  let transport: any HTTPTransport
}
