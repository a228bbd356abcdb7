package plan

// Strategy says how a child that differs from the wanted one is updated.
type Strategy string

// The strategies, see package desired.
const (
	OnDelete        Strategy = "OnDelete"
	InPlace         Strategy = "InPlace"
	Replace         Strategy = "Replace"
	Recreate        Strategy = "Recreate"
	RollingInPlace  Strategy = "RollingInPlace"
	RollingRecreate Strategy = "RollingRecreate"
)

// Rolls reports whether children are updated one after the other.
func (s Strategy) Rolls() bool { return s == RollingInPlace || s == RollingRecreate }

// Alone returns the strategy by which a child is updated without waiting for others.
func (s Strategy) Alone() Strategy {
	switch s {
	case RollingInPlace:
		return InPlace
	case RollingRecreate:
		return Recreate
	}
	return s
}

// State is what was observed of a wanted child.
type State int

// The states.
const (
	// Absent: the child doesn't exist.
	Absent State = iota
	// Terminating: it is being deleted.
	Terminating
	// Outdated: it differs from the wanted one.
	Outdated
	// Current: it is as wanted.
	Current
	// Unknown: its state couldn't be found out, or somebody else has an object of its name. Nothing is done with it.
	Unknown
)

// Wanted is a child that is wanted.
type Wanted struct {
	// Group is the group of children that are rolled one after the other, such as a kind.
	Group    int
	Strategy Strategy
	State    State
	// Healthy: the child exists, and does its work.
	Healthy bool
}

// Unwanted is an observed child that isn't wanted.
type Unwanted struct {
	// Terminating: it is being deleted. Protected: it must not be deleted.
	Terminating, Protected bool
}

// Verb is what is done with a child.
type Verb string

// The verbs.
const (
	// Create creates the child, and Apply and Replacing change it. Recreating deletes it and creates it again.
	Create     Verb = "create"
	Apply      Verb = "apply"
	Replacing  Verb = "replace"
	Recreating Verb = "recreate"
	// Delete deletes a child that isn't wanted. Such children are deleted after all other actions have succeeded.
	Delete Verb = "delete"
	// Wait: nothing is done with the child yet.
	Wait Verb = "wait"
)

// Action is what is done with one child.
type Action struct {
	Verb Verb
	// Child is the place of the child among the wanted ones, or among the unwanted ones for Delete.
	Child int
	// For is the place of the child that Child waits for, until it is healthy, updated, or gone. It is that of Child if
	// Child is being deleted.
	For int
}

// Of returns what is done now, each in the order of the children: first creations, then changes and waits, then
// deletions. There is a wait for each child that is being deleted, and for each one whose turn in a roll hasn't come.
// Without actions, the children are as wanted.
//
// Deletions are planned only if all wanted children exist, or are created by this plan. A roll that has to wait doesn't
// hold them up, and a child of an unknown state does.
func Of(wanted []Wanted, unwanted []Unwanted) []Action {
	var creations, changes, deletions []Action
	isIncomplete := false
	groups := map[int][]int{}
	for i, child := range wanted {
		switch {
		case child.Strategy.Rolls():
			groups[child.Group] = append(groups[child.Group], i)
		case child.State == Outdated && child.Strategy != OnDelete:
			changes = append(changes, change(child, i))
		case child.State == Terminating:
			changes = append(changes, Action{Wait, i, i})
		}
		if child.State == Absent {
			creations = append(creations, Action{Create, i, i})
		}
		isIncomplete = isIncomplete || child.State == Terminating || child.State == Unknown
	}
	for _, group := range inOrder(groups) {
		changes = append(changes, roll(wanted, group)...)
	}
	for i, child := range unwanted {
		if !isIncomplete && !child.Terminating && !child.Protected {
			deletions = append(deletions, Action{Delete, i, i})
		}
	}
	return append(append(creations, changes...), deletions...)
}

// change returns the action for an outdated child whose turn it is.
func change(child Wanted, place int) Action {
	switch child.Strategy {
	case Replace:
		return Action{Replacing, place, place}
	case Recreate, RollingRecreate:
		return Action{Recreating, place, place}
	}
	return Action{Apply, place, place}
}
