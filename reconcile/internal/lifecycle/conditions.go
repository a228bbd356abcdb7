package lifecycle

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"slices"
	"sync"
	"time"

	"github.com/operkit/operkit/status"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
)

// Conditions are the conditions that a user has declared for a kind, as one reconcile of a resource reports them. They
// are written with the status, also if the reconcile fails. They are safe for concurrent use.
type Conditions struct {
	lifecycle *Lifecycle
	resource  *unstructured.Unstructured
	log       *slog.Logger

	mu    sync.Mutex
	visit *status.Visit
	// forward, if not nil, gets what is reported, and writes it.
	forward Forward
}

// Forward receives conditions instead of the status, also invalid ones.
type Forward interface {
	SetCondition(c metav1.Condition)
	FlushConditions(ctx context.Context) error
}

// ForwardTo passes each report on, and Flush too.
func (c *Conditions) ForwardTo(forward Forward) {
	if c != nil {
		c.forward = forward
	}
}

// Declare sets the user's own conditions. A type that operkit itself writes is an error.
func (l *Lifecycle) Declare(own *status.Declaration) error {
	if own == nil {
		return errors.New("conditions: nil declaration: return the result of status.Declare")
	}
	for _, conditionType := range own.Types() {
		if conditionType == ConditionPaused || slices.Contains(rolloutConditions, conditionType) {
			return fmt.Errorf("conditions: %s is written by operkit itself: choose another type", conditionType)
		}
	}
	l.own = own.ConditionsOnly() // status.observedGeneration is about the whole status
	return nil
}

// Declared returns the user's own conditions.
func (l *Lifecycle) Declared() []status.Declared {
	if l.own == nil {
		return nil
	}
	return l.own.Declared()
}

// Visit returns the own conditions for one reconcile of a resource, nil if none are declared.
func (l *Lifecycle) Visit(resource *unstructured.Unstructured, log *slog.Logger) *Conditions {
	if l.own == nil {
		return nil
	}
	return &Conditions{lifecycle: l, resource: resource, log: log, visit: l.own.Visit(resource.GetGeneration())}
}

// Set reports a condition of a declared type. If a type is reported several times, the last report counts. A type that
// isn't declared, or an invalid condition, is an error of the reconcile.
func (c *Conditions) Set(conditionType string, value metav1.ConditionStatus, reason, message string) {
	c.do(func(v *status.Visit) {
		if c.forward == nil {
			v.Report(conditionType, value, reason, message)
			return
		}
		c.forward.SetCondition(metav1.Condition{Type: conditionType, Status: value, Reason: reason, Message: message})
	})
}

// Result reports the outcome of the work for a declared type: True, or what its error table says about err.
func (c *Conditions) Result(conditionType string, err error) {
	c.do(func(v *status.Visit) {
		v.Result(conditionType, err)
		if c.forward != nil {
			reported, _ := v.Reported(conditionType)
			reported.Type = conditionType // also of a type that isn't declared
			c.forward.SetCondition(reported)
		}
	})
}

// Err returns the error of the first invalid report. With it, no own condition is written.
func (c *Conditions) Err() (err error) {
	c.do(func(v *status.Visit) { err = v.Err() })
	return err
}

// Flush writes what was reported so far, in the middle of long work, if the status doesn't show it yet.
func (c *Conditions) Flush(ctx context.Context) error {
	if c == nil || c.lifecycle.DryRun {
		return nil
	}
	if c.forward != nil {
		return c.forward.FlushConditions(ctx)
	}
	if err := c.Err(); err != nil {
		return err
	}
	_, err := c.lifecycle.SetStatus(ctx, c.resource, c.log, func(present map[string]any) (map[string]any, bool, error) {
		return c.over(present, (*status.Visit).Flush)
	})
	return err
}

// writing is End or Flush of a Visit.
type writing func(v *status.Visit, now time.Time, object any) (changed bool, err error)

func (c *Conditions) do(report func(v *status.Visit)) {
	if c == nil {
		return
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	report(c.visit)
}

// over returns a status with the reported conditions. It doesn't change present.
func (c *Conditions) over(present map[string]any, write writing) (next map[string]any, changed bool, err error) {
	if c == nil {
		return present, false, nil
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.visit.Err() != nil {
		return present, false, nil // the style reports the error, see Err
	}
	object := (&unstructured.Unstructured{Object: map[string]any{"status": present}}).DeepCopy().Object
	changed, err = write(c.visit, c.lifecycle.Now(), object)
	next, _ = object["status"].(map[string]any)
	return next, changed, err
}
