package dag

import (
	"errors"
	"fmt"
	"strings"
)

var (
	// ErrInvalidNode reports that a node has no name.
	ErrInvalidNode = errors.New("a node needs a name")
	// ErrDuplicateNode reports that the graph already has a node of that name.
	ErrDuplicateNode = errors.New("the graph already has a node of that name")
	// ErrInvalidOption reports that an option of Run has an invalid value.
	ErrInvalidOption = errors.New("invalid option")
	// ErrNilGraph reports that a nil graph can't be changed.
	ErrNilGraph = errors.New("nil graph: make it with New")
	// ErrOverlap reports that [NewState] got a node with two outcomes.
	ErrOverlap = errors.New("a node has exactly one outcome: list it in one set")
)

// Role is the side of a dependency.
type Role string

const (
	// RoleParent is the dependent, which waits.
	RoleParent Role = "parent"
	// RoleChild is the dependency, which is waited for.
	RoleChild Role = "child"
)

// UnknownNodeError reports that a dependency names a node that isn't in the graph.
type UnknownNodeError struct {
	// Name is the unknown name.
	Name string
	// Role is the side of the dependency that has the unknown name.
	Role Role
}

// Error names the node and its role.
func (e *UnknownNodeError) Error() string {
	return fmt.Sprintf("node %q: not in the graph, but named as the %s of a dependency: add it first", e.Name, e.Role)
}

// CycleError reports that a dependency would have closed a cycle.
type CycleError struct {
	// Path is the shortest cycle that the dependency would close. Each node waits for the next one. The first two names
	// are the refused dependency: the dependent, then the node that it would wait for. The last name repeats the first.
	Path []string
}

// Error shows the path.
func (e *CycleError) Error() string {
	if len(e.Path) == 0 {
		return "cycle: a node would wait for itself"
	}
	return fmt.Sprintf("node %q: would wait for itself: %s", e.Path[0], strings.Join(e.Path, " -> "))
}

// NodeError is the error of one node.
type NodeError struct {
	// Name is the name of the node, empty for an error that belongs to no node.
	Name string
	// Err is the error of the node's visit, or of the predicate that kept the node from starting.
	Err error
}

// Error puts the name of the node before the error.
func (e NodeError) Error() string {
	if e.Err == nil {
		return fmt.Sprintf("node %q: no error", e.Name)
	}
	if e.Name == "" {
		return e.Err.Error()
	}
	return fmt.Sprintf("node %q: %v", e.Name, e.Err)
}

// Unwrap returns the error without the name.
func (e NodeError) Unwrap() error { return e.Err }
