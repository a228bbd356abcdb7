package draw

import "github.com/operkit/operkit/dag"

// drawing is the input of the drawing functions.
type drawing struct {
	nodes []dag.Node
	state dag.State
}

// edges calls draw for each dependency, with the indexes of its two nodes.
func (d drawing) edges(draw func(parent, child int, conditional bool)) {
	indexes := make(map[string]int, len(d.nodes))
	for i, node := range d.nodes {
		indexes[node.Name] = i
	}
	for i, node := range d.nodes {
		for _, dependency := range node.Dependencies {
			draw(i, indexes[dependency.Name], dependency.Conditional)
		}
	}
}

// note returns the reason why a node is unstarted, or the error of a node.
func (d drawing) note(name string) string {
	if reason := d.state.Reason(name); reason != "" {
		return reason
	}
	if err := d.state.Err(name); err != nil {
		return err.Error()
	}
	return ""
}
