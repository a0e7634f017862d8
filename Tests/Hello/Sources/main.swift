import Larder

let store = try Store(at: CommandLine.arguments.dropFirst().first ?? "hello.larder")
let greetings = store.cache(TextCodec(), in: "greetings")
if let known = try greetings.value(for: "world") {
  print(known)
} else {
  try greetings.set("Hello, world", for: "world", expires: .after(.days(1)))
  print("stored a greeting")
}
try store.close()
