package draw

import "github.com/operkit/operkit/dag"

// look is how nodes of one state are drawn. The colours can also be told apart in a black-and-white print.
type look struct {
	// name is the word in the legend.
	name string
	// fill and line are the colours of a node and of its frame.
	fill, line string
}

// looks are the looks of all states, in the order of the legend: those of the outcomes, and of disabled nodes.
var looks = [...]look{
	{dag.OutcomeVerified.String(), "#c8e6c9", "#2e7d32"},
	{dag.OutcomeUnverified.String(), "#fff3c4", "#b28704"},
	{dag.OutcomeFailed.String(), "#ffcdd2", "#c62828"},
	{dag.OutcomeUnstarted.String(), "#e3f2fd", "#1565c0"},
	{disabled, "#eeeeee", "#9e9e9e"},
}

// disabled is the name of the look of a disabled node.
const disabled = "disabled"

// look returns the look of a node. It returns false if nothing is known about the node. A disabled node is grey, with
// and without a state, unless it was visited before it was disabled.
func (d drawing) look(node dag.Node) (look, bool) {
	outcome, known := d.state.Outcome(node.Name)
	name := outcome.String()
	if node.Disabled && (!known || outcome == dag.OutcomeUnstarted) {
		name, known = disabled, true
	}
	for _, l := range looks {
		if known && l.name == name {
			return l, true
		}
	}
	return look{}, false
}

// legend returns the looks that the nodes have.
func (d drawing) legend() (present []look) {
	seen := map[look]bool{}
	for _, node := range d.nodes {
		if l, ok := d.look(node); ok {
			seen[l] = true
		}
	}
	for _, l := range looks {
		if seen[l] {
			present = append(present, l)
		}
	}
	return present
}
