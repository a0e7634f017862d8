import Catalog
import ExampleTesting

/// What the program of the page names.
struct Programs {
  let store: Store
  let token: String
  let transport: any HTTPTransport
}
