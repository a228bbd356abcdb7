package versions_test

import (
	"context"
	"errors"
	"testing"

	"github.com/operkit/operkit/deploy"
	"github.com/operkit/operkit/reconcile"
	"github.com/operkit/operkit/reconcile/versions"
	"github.com/operkit/operkit/reconcile/versions/child"
	"github.com/operkit/operkit/status"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
)

var clinics = schema.GroupVersionKind{Group: "example.dev", Version: "v1", Kind: "Clinic"}

var errBed = errors.New("no bed is free")

// Clinic is a controller with conditions of its own. What it reports is in the spec of its resource.
type Clinic struct{ reset bool }

func init() {
	programs["clinic"] = func(ctx context.Context, version string) error {
		return child.Serve(ctx, version, []reconcile.Controller{Clinic{reset: version == "2.0.0"}})
	}
	programs["clinic-finalizing"] = func(ctx context.Context, version string) error {
		return child.Serve(ctx, version, []reconcile.Controller{finalizingClinic{}})
	}
}

func (Clinic) Kind() schema.GroupVersionKind { return clinics }

func (c Clinic) Conditions() (*status.Declaration, error) {
	return status.Declare(
		status.Declared{Type: "Staffed", Reset: c.reset, Errors: []status.ErrorReason{status.ErrorIs(errBed, "Full")}},
		status.Declared{Type: "Closed", Negative: true},
		status.Declared{Type: "Healthy", Summarises: true},
	)
}

func (Clinic) Setup(ctx context.Context, s *reconcile.Session) error {
	own := s.Conditions()
	switch does(s, "report") {
	case "set":
		own.Set("Staffed", metav1.ConditionTrue, "Hired", "three nurses")
	case "good":
		own.Result("Staffed", nil)
		own.Result("Closed", nil)
	case "error":
		own.Result("Staffed", errBed)
		return errBed
	case "panic":
		own.Set("Staffed", metav1.ConditionFalse, "Gone", "")
		panic("the clinic explodes")
	case "flush":
		own.Set("Staffed", metav1.ConditionFalse, "Hiring", "")
		if err := own.Flush(ctx); err != nil {
			return err
		}
		live, err := s.Manager().Port().Get(ctx, deploy.Ref{Kind: clinics, Namespace: s.Namespace(), Name: s.Name()})
		if err != nil {
			return err
		}
		own.Set("Closed", metav1.ConditionFalse, "Seen", status.Conditions(live).Reason("Staffed"))
	case "undeclared":
		own.Set("Painted", metav1.ConditionTrue, "Red", "")
	case "invalid":
		own.Set("Staffed", metav1.ConditionTrue, "not a reason", "")
	}
	return nil
}

func (Clinic) AfterVerify(_ context.Context, s *reconcile.Session, _ reconcile.Outcome) error {
	if does(s, "report") == "hook" {
		s.Conditions().Set("Staffed", metav1.ConditionTrue, "Verified", "")
	}
	return nil
}

type finalizingClinic struct{ Clinic }

func (finalizingClinic) Finalize(_ context.Context, s *reconcile.Session) error {
	s.Conditions().Set("Closed", metav1.ConditionTrue, "ForEver", "")
	return errors.New("a patient is still here")
}

func clinic(report string) *unstructured.Unstructured {
	return &unstructured.Unstructured{Object: map[string]any{
		"apiVersion": "example.dev/v1", "kind": "Clinic", "metadata": map[string]any{"name": "c"},
		"spec": map[string]any{"version": "1.0.0", "report": report},
	}}
}

// Conditions of a controller's own are written just as if the controller were here.
func TestOwnConditions(t *testing.T) {
	t.Parallel()
	pool := start(t, folder(t, "clinic", "1.0.0"))
	for _, row := range []struct {
		report string
		// states of Staffed, Closed and Healthy; err is a part of the error.
		staffed, closed, healthy, err string
	}{
		{"nothing", "Unknown Initializing", "Unknown Initializing", "Unknown ", ""},
		{"set", "True Hired", "Unknown Initializing", "True ", ""},
		{"good", "True Succeeded", "False Succeeded", "True ", ""},
		{"error", "False Full", "Unknown Initializing", "False ", "setup: no bed is free"},
		{"panic", "False Gone", "Unknown Initializing", "False ", "setup: panic: the clinic explodes"},
		{"flush", "False Hiring", "False Seen", "False ", ""},
		{"hook", "True Verified", "Unknown Initializing", "True ", ""},
		{"undeclared", "", "", "", `"Painted" isn't declared`},
		{"invalid", "", "", "", "invalid reason"},
	} {
		t.Run("conditions 3: "+row.report, func(t *testing.T) {
			t.Parallel()
			type run struct {
				err        string
				conditions []metav1.Condition
			}
			var runs []run
			for _, controller := range []reconcile.Controller{Clinic{}, pool.Controllers()[0]} {
				w := newWorld(t, controller, reconcile.StartAfter(0))
				w.put(t, clinic(row.report))
				_, err := w.reconcile(t.Context(), "c")
				var last run
				if err != nil {
					last.err = err.Error()
				}
				for _, c := range status.Conditions(w.get(t, clinics, "c")).List() {
					c.LastTransitionTime = metav1.Time{}
					last.conditions = append(last.conditions, c)
				}
				runs = append(runs, last)
			}
			assert.Equal(t, runs[0], runs[1], "here and there")
			assert.Contains(t, runs[1].err, row.err)
			for conditionType, want := range map[string]string{"Staffed": row.staffed, "Closed": row.closed, "Healthy": row.healthy} {
				c, _ := status.Conditions(&runs[1].conditions).Get(conditionType)
				assert.Contains(t, string(c.Status)+" "+c.Reason, want)
			}
			if row.report == "flush" {
				c, _ := status.Conditions(&runs[1].conditions).Get("Closed")
				assert.Equal(t, "Hiring", c.Message, "what was flushed is seen in the middle")
			}
		})
	}
}

// Conditions and a Finalize: the controller has both.
func TestOwnConditionsInFinalize(t *testing.T) {
	t.Parallel()
	pool := start(t, folder(t, "clinic-finalizing", "1.0.0"))
	w := newWorld(t, pool.Controllers()[0])
	w.put(t, clinic("set"))
	_, err := w.reconcile(t.Context(), "c")
	require.NoError(t, err)
	require.NotEmpty(t, w.get(t, clinics, "c").GetFinalizers())
	require.NoError(t, w.memory.Port().Delete(t.Context(), deploy.Ref{Kind: clinics, Namespace: "test", Name: "c"}, deploy.DeleteOptions{}))
	_, err = w.reconcile(t.Context(), "c")
	require.ErrorContains(t, err, "a patient is still here")
	assert.Equal(t, "ForEver", status.Conditions(w.get(t, clinics, "c")).Reason("Closed"))
}

// Versions that declare a condition differently can't be served by one manager.
func TestConditionsDeclaredOtherwise(t *testing.T) {
	t.Parallel()
	_, err := versions.Start(t.Context(), folder(t, "clinic", "1.0.0", "2.0.0"))
	require.ErrorContains(t, err, "it declares the condition Staffed of the kind Clinic otherwise than another version: declare it alike in all versions")
}
