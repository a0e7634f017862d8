import Catalog
import ExampleTesting

/// The names that the program of the page uses without a declaration.
struct Programs {
  let store: Store
  let token: String
  let transport: any HTTPTransport
}
