package dag

// DrawOption says something about a picture of a graph.
type DrawOption func(*drawing)

// WithState colours each node by how it ended, and notes why one is unstarted or what its error
// is where the format has a place for that. A node that the state doesn't know stays plain.
func WithState(state State) DrawOption { return func(d *drawing) { d.state = &state } }

// drawing is what a picture shows of the nodes of a plan.
type drawing struct {
	*plan
	state *State
}

func (g *Graph[T]) drawing(options []DrawOption) drawing {
	p, _ := g.snapshot()
	d := drawing{plan: p}
	for _, option := range options {
		if option != nil {
			option(&d)
		}
	}
	return d
}

// edges calls draw for each dependency; when says that it has a predicate.
func (d drawing) edges(draw func(parent, child int32, when bool)) {
	if d.err != nil {
		return
	}
	for id := range d.names {
		gates := d.gates[int32(id)]
		for _, child := range d.children.of(int32(id)) {
			when := len(gates) > 0 && gates[0].child == child
			if when {
				gates = gates[1:]
			}
			draw(int32(id), child, when)
		}
	}
}

// outcome is how a node ended; known is false without a state, or when that has no such node.
func (d drawing) outcome(id int32) (end Outcome, known bool) {
	if d.state == nil {
		return OutcomeUnstarted, false
	}
	return d.state.Outcome(d.names[id])
}

// note is what there is to say about how a node ended.
func (d drawing) note(id int32) string {
	if d.state == nil {
		return ""
	}
	name := d.names[id]
	if reason := d.state.Reason(name); reason != "" {
		return reason
	}
	if err := d.state.Err(name); err != nil {
		return err.Error()
	}
	return ""
}

// shade is how an outcome is painted: legible in black on white paper as well.
type shade struct{ fill, line string }

var shades = [outcomes]shade{
	OutcomeUnstarted:  {"#eeeeee", "#9e9e9e"},
	OutcomeVerified:   {"#c8e6c9", "#2e7d32"},
	OutcomeUnverified: {"#fff3c4", "#b28704"},
	OutcomeFailed:     {"#ffcdd2", "#c62828"},
}
