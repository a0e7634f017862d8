// The tests of the examples use these beside what is here.
@_exported public import LarderHTTPTesting
@_exported public import LarderTesting
