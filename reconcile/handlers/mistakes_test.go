package handlers_test

import (
	"context"
	"log/slog"
	"testing"
	"time"

	"github.com/operkit/operkit/deploy"
	"github.com/operkit/operkit/deploy/dryrun"
	"github.com/operkit/operkit/reconcile/handlers"
	"github.com/operkit/operkit/reconcile/request"
	"github.com/operkit/operkit/reconcile/watch"
	"github.com/operkit/operkit/status"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
)

func ok(context.Context, *handlers.Request[Claim]) error { return nil }

func newEnv(t *testing.T) watch.Env {
	memory, err := dryrun.New(dryrun.AnyKind())
	require.NoError(t, err)
	manager, err := deploy.NewManager(memory)
	require.NoError(t, err)
	return watch.Env{Manager: manager, Logger: slog.New(slog.DiscardHandler), Now: time.Now}
}

func TestMistakes(t *testing.T) {
	t.Run("handlers 33: all mistakes at once", testMistakes)
}

func testMistakes(t *testing.T) {
	c := handlers.New[Claim](schema.GroupVersionKind{}, handlers.Finalizer("no-domain"), handlers.Ignoring(""))
	c.On(handlers.Create, "Wrong_ID", ok)
	c.On(0, "none", ok)
	c.On(handlers.Create, "twice", ok, handlers.MaxAttempts(0), handlers.Optional())
	c.On(handlers.Create, "twice", nil)
	c.On(handlers.Create, "other", ok, handlers.When(func(*metav1.PartialObjectMetadata) bool { return true }))
	c.On(handlers.Create, "paused", ok, handlers.Reports("Paused"))
	_, err := c.Reconciler(t.Context(), newEnv(t))
	require.Error(t, err)
	for _, text := range []string{
		`handler "Wrong_ID": the id isn't valid`, `handler "none": cause 0`, `max attempts 0`, "optional: only handlers of Delete",
		"nil function", "when: it is about a v1.PartialObjectMetadata", `handler "twice": there are two`, "needs a version and a kind",
		`finalizer "no-domain": not a valid name`, `ignoring: field "": a key is empty`, "Paused is written by operkit itself",
	} {
		assert.ErrorContains(t, err, text)
	}
}

// TestMistake has the mistakes one by one: each is the only error of the registration.
func TestMistake(t *testing.T) {
	t.Parallel()
	type kind = handlers.Handlers[Claim]
	on := func(causes handlers.Cause, opts ...handlers.Option) func(c *kind) {
		return func(c *kind) { c.On(causes, "a", ok, opts...) }
	}
	field := func(path string, opts ...handlers.Option) func(c *kind) {
		return func(c *kind) { c.Field(path, "a", ok, opts...) }
	}
	timer := func(opts ...handlers.Option) func(c *kind) {
		return func(c *kind) { c.Timer("a", time.Minute, ok, opts...) }
	}
	seen := func(opts ...handlers.Option) func(c *kind) {
		return func(c *kind) { c.Seen("a", ok, opts...) }
	}
	create := on(handlers.Create)
	table := func(reason string) []status.ErrorReason { return []status.ErrorReason{{Reason: reason}} }
	for _, row := range []struct {
		reason   string
		register func(c *kind)
		opts     []handlers.KindOption
		want     string
	}{
		{"handlers 90: no handler", func(*kind) {}, nil, "no handlers: register one by On, Field, Seen, OnClusterEvent, Timer, Cron or Daemon"},
		{"handlers 90: a number that is no cause", on(128), nil, `handler "a": cause 128: not a cause`},
		{"handlers 90: nil in Not", on(handlers.Create, handlers.Label("tier", handlers.Not(nil))), nil, "label tier: nil check"},
		{"handlers 90: nil in AllOf", on(handlers.Create, handlers.Annotation("tier", handlers.AllOf(handlers.Present, nil))), nil, "annotation tier: nil check"},
		{"handlers 90: nil in AnyOf", field("spec.size", handlers.Value(handlers.AnyOf(nil))), nil, "value: nil check"},
		{"handlers 90: nil before another check of the key", on(handlers.Create, handlers.Label("tier", nil), handlers.Label("tier", handlers.Present)), nil, "label tier: nil check"},
		{"handlers 90: a key that no label has", on(handlers.Create, handlers.Label("not valid!", handlers.Present)), nil, `label "not valid!": the key isn't valid`},
		{"handlers 90: a key that no annotation has", on(handlers.Create, handlers.Annotation("a/b/c", handlers.Present)), nil, `annotation "a/b/c": the key isn't valid`},
		{"handlers 90: a former id that no handler had", on(handlers.Create, handlers.Formerly("NOT VALID")), nil, `formerly "NOT VALID": no handler had this id`},
		{"handlers 90: a former id of a timer", timer(handlers.Formerly("b")), nil, "formerly: nothing is recorded of this handler"},
		{"handlers 90: a former id of a handler of events", seen(handlers.Formerly("b")), nil, "formerly: nothing is recorded of this handler"},
		{"handlers 90: a former id of a daemon", func(c *kind) { c.Daemon("a", ok, handlers.Formerly("b")) }, nil, "formerly: nothing is recorded of this handler"},
		{"handlers 90: a former id that the process can't know", on(handlers.Create, handlers.Formerly("b")), []handlers.KindOption{handlers.Stateless()}, "formerly: Stateless records nothing"},
		{"handlers 90: a creation for a handler of updates", on(handlers.Update, handlers.AtCreation()), nil, "at creation: only for handlers of Field"},
		{"handlers 90: a creation for a timer", timer(handlers.AtCreation()), nil, "at creation: only for handlers of Field"},
		{"handlers 90: two fields", field("spec.size", handlers.InField("spec.mode")), nil, "field spec.mode: the field spec.size is named, too"},
		{"handlers 90: attempts of a handler of events", seen(handlers.Errors(handlers.Retry)), nil, "a handler of events is never called again"},
		{"handlers 90: two error tables", func(c *kind) {
			c.On(handlers.Create, "a", ok, handlers.Reports("Made", table("A")...))
			c.On(handlers.Update, "b", ok, handlers.Reports("Made", table("B")...))
		}, nil, `handler "b": reports Made: an earlier one has another error table`},
		{"handlers 90: a finalizer in capitals", create, []handlers.KindOption{handlers.Finalizer("EXAMPLE.dev/claims")}, `finalizer "EXAMPLE.dev/claims": not a valid name`},
		{"handlers 90: a domain that no kopf operator has", create, []handlers.KindOption{handlers.FromKopf("not valid!", "")}, `from kopf: domain "not valid!"`},
		{"handlers 90: a finalizer that no kopf operator has", create, []handlers.KindOption{handlers.FromKopf("", "not valid!")}, `from kopf: finalizer "not valid!"`},
		{"handlers 91: a key that was split by its dots", field("metadata.annotations.example.dev/a"), nil, "metadata.annotations['example.dev/a']"},
		{"handlers 91: a field that only the API server writes", field("metadata.resourceVersion"), nil, "field metadata.resourceVersion: only the API server writes it"},
		{"handlers 91: a field that is the same for all objects", on(handlers.Create|handlers.Update, handlers.InField("kind")), nil, "field kind: only the API server writes it"},
		{"handlers 91: an annotation of the operator", field("metadata.annotations['operkit.dev/a']"), nil, "field metadata.annotations['operkit.dev/a']: it is an annotation of the operator itself"},
		{"handlers 91: a field within an ignored one", field("spec.size"), []handlers.KindOption{handlers.Ignoring("spec")}, "field spec.size: it is ignored"},
		{"handlers 91: an ignored field without a name", create, []handlers.KindOption{handlers.Ignoring("spec.")}, `ignoring: field "spec.": a key is empty`},
		{"handlers 92: a cron without a record", func(c *kind) { c.Cron("a", "@daily", ok) }, []handlers.KindOption{handlers.Stateless()}, "the last call of a Cron is recorded on the object"},
	} {
		t.Run(row.reason, func(t *testing.T) {
			t.Parallel()
			c := handlers.New[Claim](claims, row.opts...)
			row.register(c)
			_, err := c.Reconciler(t.Context(), newEnv(t))
			require.Error(t, err)
			assert.ErrorContains(t, err, row.want)
			assert.NotContains(t, err.Error(), "\n", "one mistake is one error")
		})
	}
}

// TestNoMistake has what looks like a mistake and is none.
func TestNoMistake(t *testing.T) {
	t.Parallel()
	made := handlers.Reports("Made", status.ErrorReason{Reason: "Broken"})
	for _, row := range []struct {
		reason   string
		register func(c *handlers.Handlers[Claim])
	}{
		{"handlers 90: one error table for several handlers", func(c *handlers.Handlers[Claim]) {
			c.On(handlers.Create, "a", ok, handlers.Reports("Made"))
			c.On(handlers.Update, "b", ok, made)
			c.On(handlers.Delete, "c", ok, made)
		}},
		{"handlers 90: a former id of a cron", func(c *handlers.Handlers[Claim]) { c.Cron("a", "@daily", ok, handlers.Formerly("b")) }},
		{"handlers 90: an annotation in capitals", func(c *handlers.Handlers[Claim]) {
			c.On(handlers.Create, "a", ok, handlers.Annotation("EXAMPLE.dev/a", handlers.Present))
		}},
		{"handlers 91: a field of the server at the creation", func(c *handlers.Handlers[Claim]) {
			c.On(handlers.Create, "a", ok, handlers.InField("metadata.creationTimestamp"))
		}},
		{"handlers 91: a field around an ignored one", func(c *handlers.Handlers[Claim]) { c.Field("spec", "a", ok) }},
	} {
		t.Run(row.reason, func(t *testing.T) {
			t.Parallel()
			c := handlers.New[Claim](claims, handlers.Ignoring("spec.size"))
			row.register(c)
			_, err := c.Reconciler(t.Context(), newEnv(t))
			assert.NoError(t, err)
		})
	}
}

func TestPaths(t *testing.T) {
	t.Run("handlers 91: a handler is about one annotation whose key has dots", testDottedKey)
}

func testDottedKey(t *testing.T) {
	var j journal
	c := handlers.New[Claim](claims, handlers.Ignoring("metadata.annotations['example.dev/b']"))
	c.Field("metadata.annotations['example.dev/a']", "a", j.noting("a"))
	c.On(handlers.Update, "all", j.noting("all"))
	h := drive(t, c)
	h.Apply(small)
	h.RunUntilSettled()
	annotate := func(key string) {
		h.Edit("Claim small", func(obj *unstructured.Unstructured) {
			annotations := obj.GetAnnotations()
			if annotations == nil {
				annotations = map[string]string{}
			}
			annotations[key] = "x"
			obj.SetAnnotations(annotations)
		})
		h.RunUntilSettled()
	}
	annotate("example.dev/b")
	assert.Empty(t, j.taken(), "it is ignored")
	annotate("example.dev/a")
	assert.Equal(t, []string{"a update, add .: x", "all update, add .metadata.annotations: map[example.dev/a:x]"}, j.taken())
	annotate("example.dev/c")
	assert.Equal(t, []string{"all update, add .metadata.annotations['example.dev/c']: x"}, j.taken())
}

func TestCondition(t *testing.T) {
	t.Parallel()
	for _, row := range []struct{ reason, conditionType, status, because, want string }{
		{"handlers 93: a type that no handler declares", "Typo", "True", "Made", `condition "Typo": no handler declares it`},
		{"handlers 93: no type", "", "True", "Made", `condition "": no handler declares it`},
		{"handlers 93: a status that there isn't", "Made", "Yes", "Made", "use True, False or Unknown"},
		{"handlers 93: a reason with a space", "Made", "True", "not valid", `condition "Made"`},
	} {
		t.Run(row.reason, func(t *testing.T) {
			t.Parallel()
			c := handlers.New[Claim](claims)
			var err error
			c.On(handlers.Create, "a", func(_ context.Context, r *handlers.Request[Claim]) error {
				err = r.Condition(row.conditionType, metav1.ConditionStatus(row.status), row.because, "")
				return r.Condition("Checked", metav1.ConditionFalse, "TooSmall", "")
			}, handlers.Reports("Made"))
			c.On(handlers.Delete, "b", ok, handlers.Reports("Checked"))
			h := drive(t, c)
			h.Apply(small)
			h.RunUntilSettled()
			assert.ErrorContains(t, err, row.want)
			assert.True(t, request.IsPermanent(err))
			assert.Equal(t, metav1.ConditionFalse, h.Condition("Claim small", "Checked").Status, "another report is written")
			assert.Equal(t, metav1.ConditionTrue, h.Condition("Claim small", "Made").Status, "and so is the outcome")
		})
	}
}
