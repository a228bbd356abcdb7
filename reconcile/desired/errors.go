package desired

import (
	"fmt"

	"github.com/operkit/operkit/deploy"
	"github.com/operkit/operkit/reconcile/desired/internal/answer"
)

// ChildError reports that a function returned a child that the parent can't have: of a kind that isn't declared, in
// another namespace, without a name, or twice. Nothing is changed then, and the parent is left alone until something
// changes.
type ChildError struct {
	// Parent names the parent. Place is the place of the child in Response.Children, from 0 on, and Child names it, as
	// far as it has names.
	Parent deploy.Ref
	Place  int
	Child  deploy.Ref
	// Reason says what is wrong and what to do.
	Reason string
}

// Error names the child.
func (e *ChildError) Error() string {
	name := e.Child.String()
	if e.Child.Name == "" {
		name = "without a name"
	}
	return fmt.Sprintf("%s: child %d, %s: %s", e.Parent, e.Place, name, e.Reason)
}

// refused returns the error for a faulty child.
func refused(parent deploy.Ref, fault answer.Fault) error {
	return &ChildError{parent, fault.Place, fault.Child, fault.Reason}
}
