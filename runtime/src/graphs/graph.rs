//! Graphs, their nodes, and executable graphs, by handle.

use super::work::Work;
use crate::cuda::error::{self, Error};
use std::collections::HashMap;

/// A node.
#[derive(Clone, Debug)]
pub struct Node {
    /// The node's handle. Executable graphs keep it, so that their nodes can be found by it.
    pub handle: usize,
    /// The node from which this node was cloned.
    pub origin: usize,
    /// The work of the node.
    pub work: Work,
    /// The nodes on which this node depends.
    pub after: Vec<usize>,
    /// In an executable graph, a node that is not enabled is skipped.
    pub enabled: bool,
}

/// A graph.
#[derive(Clone, Debug, Default)]
pub struct Graph {
    /// The nodes, in the order in which they were created.
    pub nodes: Vec<Node>,
}

impl Graph {
    /// Returns the node with a handle.
    pub fn node(&self, handle: usize) -> Result<&Node, Error> {
        self.nodes.iter().find(|node| node.handle == handle).ok_or(error::INVALID_VALUE)
    }

    /// Returns the node with a handle.
    pub fn node_mut(&mut self, handle: usize) -> Result<&mut Node, Error> {
        self.nodes.iter_mut().find(|node| node.handle == handle).ok_or(error::INVALID_VALUE)
    }

    /// Returns the nodes in an order that their dependencies permit. Among the possible next nodes, the one that was
    /// created first is always chosen, so that the order is the same in every run. Returns an error if the dependencies
    /// form a cycle.
    pub fn ordered(&self) -> Result<Graph, Error> {
        let places: HashMap<usize, usize> = self.nodes.iter().enumerate().map(|(at, node)| (node.handle, at)).collect();
        let mut waits: Vec<usize> = self.nodes.iter().map(|node| node.after.len()).collect();
        let mut followers = vec![Vec::new(); self.nodes.len()];
        for (at, node) in self.nodes.iter().enumerate() {
            for before in &node.after {
                followers[*places.get(before).ok_or(error::INVALID_VALUE)?].push(at);
            }
        }
        let mut ready: std::collections::BTreeSet<usize> = (0..waits.len()).filter(|&at| waits[at] == 0).collect();
        let mut nodes = Vec::with_capacity(self.nodes.len());
        while let Some(at) = ready.pop_first() {
            nodes.push(self.nodes[at].clone());
            for &follower in &followers[at] {
                waits[follower] -= 1;
                if waits[follower] == 0 {
                    ready.insert(follower);
                }
            }
        }
        if nodes.len() == self.nodes.len() { Ok(Graph { nodes }) } else { Err(error::INVALID_VALUE) }
    }

    /// Returns the number of launches in one execution of the graph.
    pub fn launches(&self) -> u64 {
        self.nodes.iter().filter(|node| node.enabled).map(|node| node.work.launches()).sum()
    }
}

/// The first handle; handles have the form of pointers.
const HANDLES: usize = 0x5790_0000_0000;

/// All graphs of the process.
#[derive(Debug, Default)]
pub struct Graphs {
    /// The graphs, keyed by handle.
    graphs: HashMap<usize, Graph>,
    /// The executable graphs by handle, with their nodes in order.
    executables: HashMap<usize, Graph>,
    made: usize,
}

impl Graphs {
    /// Returns a new handle.
    pub fn new_handle(&mut self) -> usize {
        self.made += 1;
        HANDLES + 64 * self.made
    }

    /// Adds a graph and returns its handle.
    pub fn add(&mut self, graph: Graph) -> usize {
        let handle = self.new_handle();
        self.graphs.insert(handle, graph);
        handle
    }

    /// Returns the graph with a handle.
    pub fn graph(&mut self, handle: usize) -> Result<&mut Graph, Error> {
        self.graphs.get_mut(&handle).ok_or(error::INVALID_VALUE)
    }

    /// Removes a graph.
    pub fn remove(&mut self, handle: usize) -> Result<(), Error> {
        self.graphs.remove(&handle).map(|_| ()).ok_or(error::INVALID_VALUE)
    }

    /// Returns a node of any graph.
    pub fn node(&mut self, handle: usize) -> Result<&mut Node, Error> {
        let mut nodes = self.graphs.values_mut().flat_map(|graph| &mut graph.nodes);
        nodes.find(|node| node.handle == handle).ok_or(error::INVALID_VALUE)
    }

    /// Removes a node and the dependencies on it.
    pub fn remove_node(&mut self, handle: usize) -> Result<(), Error> {
        self.node(handle)?;
        for graph in self.graphs.values_mut() {
            graph.nodes.retain(|node| node.handle != handle);
            for node in &mut graph.nodes {
                node.after.retain(|before| *before != handle);
            }
        }
        Ok(())
    }

    /// Adds a node to a graph and returns the node's handle.
    pub fn add_node(&mut self, graph: usize, after: Vec<usize>, work: Work) -> Result<usize, Error> {
        let handle = self.new_handle();
        let graph = self.graph(graph)?;
        for before in &after {
            graph.node(*before)?;
        }
        graph.nodes.push(Node { handle, origin: handle, work, after, enabled: true });
        Ok(handle)
    }

    /// Returns a copy of a graph whose nodes have new handles.
    pub fn copy(&mut self, handle: usize) -> Result<Graph, Error> {
        let mut graph = self.graph(handle)?.clone();
        let names: HashMap<usize, usize> = graph.nodes.iter().map(|node| (node.handle, self.new_handle())).collect();
        for node in &mut graph.nodes {
            node.origin = node.handle;
            node.handle = names[&node.handle];
            node.after = node.after.iter().filter_map(|before| names.get(before).copied()).collect();
        }
        Ok(graph)
    }

    /// Creates an executable graph and returns its handle.
    pub fn instantiate(&mut self, handle: usize) -> Result<usize, Error> {
        let ordered = self.graph(handle)?.ordered()?;
        let executable = self.new_handle();
        self.executables.insert(executable, ordered);
        Ok(executable)
    }

    /// Returns the executable graph with a handle.
    pub fn executable(&mut self, handle: usize) -> Result<&mut Graph, Error> {
        self.executables.get_mut(&handle).ok_or(error::INVALID_VALUE)
    }

    /// Removes an executable graph.
    pub fn remove_executable(&mut self, handle: usize) -> Result<(), Error> {
        self.executables.remove(&handle).map(|_| ()).ok_or(error::INVALID_VALUE)
    }

    /// Replaces the work of an executable graph with that of another graph with the same structure. Returns `false` if
    /// the structures differ.
    pub fn update(&mut self, executable: usize, graph: usize) -> Result<bool, Error> {
        let new = self.graph(graph)?.ordered()?;
        let old = self.executable(executable)?;
        let place = |graph: &Graph, handle: usize| graph.nodes.iter().position(|node| node.handle == handle);
        let alike = old.nodes.len() == new.nodes.len()
            && old.nodes.iter().zip(&new.nodes).all(|(one, other)| {
                let places = |graph: &Graph, node: &Node| -> std::collections::BTreeSet<Option<usize>> {
                    node.after.iter().map(|before| place(graph, *before)).collect()
                };
                one.work.kind() == other.work.kind() && places(old, one) == places(&new, other)
            });
        if alike {
            for (node, from) in old.nodes.iter_mut().zip(new.nodes) {
                node.work = from.work;
            }
        }
        Ok(alike)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn graph(edges: &[Vec<usize>]) -> Graph {
        let node = |(at, after): (usize, &Vec<usize>)| Node {
            handle: 100 + at,
            origin: 100 + at,
            work: Work::Empty,
            after: after.iter().map(|before| 100 + before).collect(),
            enabled: true,
        };
        Graph { nodes: edges.iter().enumerate().map(node).collect() }
    }

    proptest! {
        #[test]
        fn every_node_comes_after_what_it_depends_on(seed in prop::collection::vec(prop::collection::vec(0usize..100, 0..4), 1..20)) {
            // Dependencies on earlier nodes, without repetitions.
            let edges: Vec<Vec<usize>> = seed.iter().enumerate().map(|(at, after)| {
                let mut after: Vec<usize> = after.iter().filter(|_| at > 0).map(|before| before % at.max(1)).collect();
                after.sort_unstable();
                after.dedup();
                after
            }).collect();
            // If the nodes are created in reverse, the order has to be determined from the dependencies.
            let mut graph = graph(&edges);
            graph.nodes.reverse();
            let ordered = graph.ordered().unwrap();
            prop_assert_eq!(ordered.nodes.len(), edges.len());
            for (at, node) in ordered.nodes.iter().enumerate() {
                for before in &node.after {
                    prop_assert!(ordered.nodes[..at].iter().any(|node| node.handle == *before));
                }
            }
        }
    }

    #[test]
    fn circles_are_refused() {
        assert!(graph(&[vec![2], vec![0], vec![1]]).ordered().is_err());
    }

    #[test]
    fn a_graph_of_the_same_form_can_be_exchanged() {
        let mut graphs = Graphs::default();
        let (first, second, other) = (
            graphs.add(graph(&[vec![], vec![0], vec![0]])),
            graphs.add(graph(&[vec![], vec![0], vec![0]])),
            graphs.add(graph(&[vec![], vec![0], vec![1]])),
        );
        let executable = graphs.instantiate(first).unwrap();
        assert_eq!(graphs.update(executable, second), Ok(true));
        assert_eq!(graphs.update(executable, other), Ok(false));
    }
}
