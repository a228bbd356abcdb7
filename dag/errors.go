package dag

import (
	"errors"
	"fmt"
	"strings"
)

var (
	// ErrInvalidNode says that a node can't be what it was asked to be: it has no name.
	ErrInvalidNode = errors.New("a node needs a name")
	// ErrDuplicateNode says that the graph has a node of that name already.
	ErrDuplicateNode = errors.New("the graph has a node of that name already")
	// ErrInvalidOption says that an option of Run has a value outside its range.
	ErrInvalidOption = errors.New("invalid option")
	// ErrNilGraph says that a graph was to be changed that isn't there: make it with New.
	ErrNilGraph = errors.New("the graph is nil")
	// ErrOverlap says that a state was to hold one node under two outcomes.
	ErrOverlap = errors.New("a node has one outcome")
)

// Role is the side of a dependency on which a node stands.
type Role string

const (
	// RoleParent is the side that waits, the dependent.
	RoleParent Role = "parent"
	// RoleChild is the side that is waited for, the dependency.
	RoleChild Role = "child"
)

// UnknownNodeError says that a dependency names a node that isn't in the graph.
type UnknownNodeError struct {
	// Name is the name that isn't in the graph.
	Name string
	// Role is the side of the dependency on which it was named.
	Role Role
}

// Error names the node and its role.
func (e *UnknownNodeError) Error() string {
	return fmt.Sprintf("node %q: not in the graph, but named as the %s of a dependency: add it first", e.Name, e.Role)
}

// CycleError says that a dependency would have closed a cycle.
type CycleError struct {
	// Path is the shortest such cycle. Each node waits for the one after it; the refused
	// dependency is the first step, and the last name is the first one again.
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
	// Name is the node's name, or empty for an error that belongs to no node.
	Name string
	// Err is what its visit, or the predicate that kept it from starting, returned.
	Err error
}

// Error puts the node's name before the error.
func (e NodeError) Error() string {
	if e.Err == nil {
		return fmt.Sprintf("node %q: no error", e.Name)
	}
	if e.Name == "" {
		return e.Err.Error()
	}
	return fmt.Sprintf("node %q: %v", e.Name, e.Err)
}

// Unwrap is the error without the name.
func (e NodeError) Unwrap() error { return e.Err }
