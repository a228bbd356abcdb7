package child

import (
	"context"

	"github.com/operkit/operkit/reconcile/internal/plain"
	"github.com/operkit/operkit/reconcile/versions/internal/wire"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// statusOf sends what a session sets in the status to the manager. An error of a notice means that the manager is gone.
type statusOf struct {
	peer    *wire.Peer
	session string
}

// SetStatus implements reconcile.StatusSink.
func (s statusOf) SetStatus(path string, value any) {
	field := wire.StatusField{Session: s.session, Path: path}
	var err error
	if field.Value, err = plain.Value(value); err != nil {
		field.Problem = wire.NewProblem(err)
	}
	_ = s.peer.Notify(wire.Set, field)
}

// SetCondition implements reconcile.StatusSink.
func (s statusOf) SetCondition(c metav1.Condition) {
	_ = s.peer.Notify(wire.State, wire.Condition{
		Session: s.session, Type: c.Type, Status: string(c.Status), Reason: c.Reason, Message: c.Message,
	})
}

// FlushConditions implements reconcile.StatusSink.
func (s statusOf) FlushConditions(ctx context.Context) error {
	return s.peer.Call(ctx, wire.Flush, s.session, nil)
}
