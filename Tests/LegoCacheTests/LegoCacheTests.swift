import Testing

@Suite struct LegoCacheTests {}
