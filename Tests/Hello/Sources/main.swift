import Larder

let store = try Store(at: CommandLine.arguments.dropFirst().first ?? "hello.larder")
let greetings = store.namespace("greetings")
if let known: String = try greetings.value(for: "world") {
  print(known)
} else {
  try greetings.set("Hello, world", for: "world", expires: .after(.days(1)))
  print("stored a greeting")
}
try store.close()
