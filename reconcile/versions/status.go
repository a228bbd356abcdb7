package versions

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"github.com/operkit/operkit/reconcile/versions/internal/wire"
	"github.com/operkit/operkit/status"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// setStatus sets a field of the status of a session's resource.
func (proc *process) setStatus(field wire.StatusField) error {
	s := proc.session(field.Session)
	switch {
	case s == nil:
	case field.Problem != nil:
		s.local.SetStatus(field.Path, unencodable{field.Problem.Err()})
	default:
		s.local.SetStatus(field.Path, field.Value)
	}
	return nil
}

// unencodable stands for a value that the version couldn't encode as JSON.
type unencodable struct{ err error }

// MarshalJSON implements json.Marshaler.
func (u unencodable) MarshalJSON() ([]byte, error) { return nil, u.err }

// setCondition sets a condition that the version declares.
func (proc *process) setCondition(c wire.Condition) error {
	if s := proc.session(c.Session); s != nil {
		s.local.Conditions().Set(c.Type, metav1.ConditionStatus(c.Status), c.Reason, c.Message)
	}
	return nil
}

// flush writes the conditions that a session has set so far.
func (proc *process) flush(ctx context.Context, session string) error {
	s := proc.session(session)
	if s == nil {
		return errors.New("the session has ended: call Flush before the reconcile ends")
	}
	return s.local.Conditions().Flush(ctx)
}

// differing returns an error if a version declares a condition otherwise than d.
func (d *declared) differing(r *wire.ControlledKind) error {
	for _, c := range r.Conditions {
		for _, known := range d.conditions {
			if known.Type == c.Type && known != c {
				return fmt.Errorf("it declares the condition %s of the kind %s otherwise than another version: declare it alike in all versions",
					c.Type, r.Kind.Name)
			}
		}
	}
	return nil
}

// joinConditions adds the conditions of one version, and reports whether it added any.
func (d *declared) joinConditions(r *wire.ControlledKind) (more bool) {
	for _, c := range r.Conditions {
		if !slices.ContainsFunc(d.conditions, func(known wire.DeclaredCondition) bool { return known.Type == c.Type }) {
			d.conditions, more = append(d.conditions, c), true
		}
	}
	return more
}

// Conditions implements reconcile.ConditionDeclarer: all conditions that a version declares.
func (d *declared) Conditions() (*status.Declaration, error) {
	all := make([]status.Declared, len(d.conditions))
	for i, c := range d.conditions {
		all[i] = status.Declared{Type: c.Type, Negative: c.Negative, Summarises: c.Summarises, Reset: c.Reset, UpdateTime: c.UpdateTime}
	}
	return status.Declare(all...)
}
