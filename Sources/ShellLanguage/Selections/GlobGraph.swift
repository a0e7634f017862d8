/// The steps of a pattern with the forks between them.
package enum GlobNode {
  case step(Glob.Step)
  case fork([Int])
  case jump(Int)
}

/// Numbers the steps and follows the forks once, so that matching need not.
package struct GlobGraph {
  private let nodes: [GlobNode]
  /// The number of the step at each node.
  private var numbers: [Int: Int] = [:]
  private(set) var steps: [Glob.Step] = []

  package init(_ nodes: [GlobNode], start: Int) {
    self.nodes = nodes
    for index in start..<nodes.count {
      guard case .step(let step) = nodes[index] else { continue }
      numbers[index] = steps.count
      steps.append(step)
    }
  }

  /// For each step, the open steps after it has taken a character.
  package var following: [Glob.Steps] {
    numbers.keys.sorted().map { node in
      switch nodes[node] {
      case .step(.accept): 0
      case .step(.run): opened(from: node)
      default: opened(from: node + 1)
      }
    }
  }

  /// The steps that are reached from a node without a character.
  package func opened(from node: Int) -> Glob.Steps {
    var opened: Glob.Steps = 0
    var seen: Set<Int> = []
    var pending = [node]
    while let node = pending.popLast() {
      guard seen.insert(node).inserted else { continue }
      if let number = numbers[node] { opened |= 1 << Glob.Steps(number) }
      switch nodes[node] {
      case .step(.run): pending.append(node + 1)
      case .step: break
      case .fork(let targets): pending += targets
      case .jump(let target): pending.append(target)
      }
    }
    return opened
  }
}
