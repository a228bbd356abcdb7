package reconcile

import (
	"context"
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/operkit/operkit/deploy"
	"github.com/operkit/operkit/status/readiness"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/runtime/schema"
)

var (
	volumeClaimKind  = schema.GroupVersionKind{Version: "v1", Kind: "PersistentVolumeClaim"}
	podKind          = schema.GroupVersionKind{Version: "v1", Kind: "Pod"}
	storageClassKind = schema.GroupVersionKind{Group: "storage.k8s.io", Version: "v1", Kind: "StorageClass"}
)

func storageClass(name, mode string, annotations ...string) *unstructured.Unstructured {
	class := object(storageClassKind, name)
	class.SetNamespace("")
	class.Object["volumeBindingMode"] = mode
	marks := map[string]string{}
	for _, key := range annotations {
		marks[key] = "true"
	}
	class.SetAnnotations(marks)
	return class
}

func claimOf(name string, class any) *unstructured.Unstructured {
	claim := object(volumeClaimKind, name)
	if class != nil {
		claim.Object["spec"] = map[string]any{"storageClassName": class}
	}
	return claim
}

func claimRef(name string) deploy.Ref {
	return deploy.Ref{Kind: volumeClaimKind, Namespace: "shop", Name: name}
}

// following is a Watcher that keeps what it is asked for, and may lack a right.
type following struct {
	kinds []schema.GroupVersionKind
	refs  []deploy.Ref
	err   error
}

func (f *following) Own(_ context.Context, _, child schema.GroupVersionKind) error {
	f.kinds = append(f.kinds, child)
	if child == storageClassKind {
		return f.err
	}
	return nil
}

func (*following) FollowAll(context.Context, deploy.Ref, schema.GroupVersionKind, string, labels.Selector) error {
	return nil
}

func (f *following) Follow(_ context.Context, _ deploy.Ref, ref deploy.Ref) error {
	f.refs = append(f.refs, ref)
	return f.err
}

// dataThenApp is a claim, and a ConfigMap that waits for it.
func dataThenApp(class any) *controller {
	return adding(func(s *Session) {
		data := s.Add("data", claimOf("data", class))
		s.Add("app", configMap("app")).After(data, Ready)
	})
}

func TestClaimThatBindsAtFirstUse(t *testing.T) {
	t.Parallel()
	const byDefault, byBeta = "storageclass.kubernetes.io/is-default-class", "storageclass.beta.kubernetes.io/is-default-class"
	late, now := "WaitForFirstConsumer", "Immediate"
	always, never := func(string) bool { return true }, func(string) bool { return false }
	for _, row := range []struct {
		reason  string
		class   any
		classes []*unstructured.Unstructured
		status  string
		options []Option
		// opens: the claim doesn't hold back what waits for it.
		opens bool
		says  string
	}{
		{reason: "its class binds at first use", class: "late", classes: []*unstructured.Unstructured{storageClass("late", late)}, opens: true, says: "WaitForFirstConsumer"},
		{reason: "its class binds at once", class: "now", classes: []*unstructured.Unstructured{storageClass("now", now)}, says: "the claim isn't bound yet"},
		{reason: "its class isn't there", class: "gone", says: "the claim isn't bound yet"},
		{reason: "the default class", classes: []*unstructured.Unstructured{storageClass("a", now), storageClass("b", late, byDefault)}, opens: true, says: "WaitForFirstConsumer"},
		{reason: "the default class by the old annotation", classes: []*unstructured.Unstructured{storageClass("a", now), storageClass("b", late, byBeta)}, opens: true, says: "WaitForFirstConsumer"},
		{reason: "of two defaults of one age the first by name", classes: []*unstructured.Unstructured{storageClass("b", late, byDefault), storageClass("a", now, byDefault)}, says: "the claim isn't bound yet"},
		{reason: "no default class", classes: []*unstructured.Unstructured{storageClass("a", late)}, says: "the claim isn't bound yet"},
		{reason: "no class at all", class: "", classes: []*unstructured.Unstructured{storageClass("b", late, byDefault)}, says: "the claim isn't bound yet"},
		{reason: "a user's Checker knows better: it doesn't wait", class: "late", classes: []*unstructured.Unstructured{storageClass("late", late)}, options: []Option{ReadyBy(readiness.Checker{WaitsForConsumer: never})}, says: "the claim isn't bound yet"},
		{reason: "a user's Checker knows better: it waits", class: "now", classes: []*unstructured.Unstructured{storageClass("now", now)}, options: []Option{ReadyBy(readiness.Checker{WaitsForConsumer: always})}, opens: true, says: "WaitForFirstConsumer"},
		{reason: "a user's Checker says something else", class: "late", classes: []*unstructured.Unstructured{storageClass("late", late)}, options: []Option{ReadyBy(readiness.Checker{ContainerGrace: time.Minute})}, opens: true, says: "WaitForFirstConsumer"},
		{
			reason: "a bound claim that grows", class: "now", opens: true, says: "the volume is being resized",
			status: `{"phase":"Bound","conditions":[{"type":"FileSystemResizePending","status":"True"}]}`,
		},
		{
			reason: "a bound claim that can't grow", class: "now", opens: true, says: "the volume can't be resized: no",
			status: `{"phase":"Bound","conditions":[{"type":"ControllerResizeError","status":"True","message":"no"}]}`,
		},
		{reason: "a bound claim has nothing to say", class: "now", opens: true, says: "Rollout Complete", status: `{"phase":"Bound"}`},
		{reason: "a lost claim", class: "now", says: "the volume of the claim is lost", status: `{"phase":"Lost"}`},
	} {
		t.Run("status 25: "+row.reason, func(t *testing.T) {
			t.Parallel()
			w := newWorld(t, row.classes...)
			r := w.reconciler(dataThenApp(row.class), row.options...)
			_, _, _ = w.once(r)
			if row.status == "" {
				row.status = `{"phase":"Pending"}`
			}
			w.mergeStatus(claimRef("data"), `{"status":`+row.status+`}`)
			_, _, _ = w.once(r)
			assert.Equal(t, row.opens, w.get(configMapRef("app")) != nil)
			assert.Contains(t, w.message(), row.says)
			if row.opens {
				assert.Equal(t, "Stable/Stable", w.verdict())
				assert.Empty(t, w.calm(r), "nothing changed")
			}
		})
	}
}

// TestClassesAreReadOnlyForClaims has which claims have a class read, and how.
func TestClassesAreReadOnlyForClaims(t *testing.T) {
	t.Parallel()
	watcher := &following{}
	w := newWorld(t, storageClass("late", "WaitForFirstConsumer"))
	read := 0
	w.unreadable = func(ref deploy.Ref) error {
		if ref.Kind == storageClassKind {
			read++
		}
		return nil
	}
	r := w.reconciler(dataThenApp("late"), WithWatcher(watcher))
	_, _, _ = w.once(r)
	assert.Zero(t, read, "a claim that nobody has looked at isn't pending")
	assert.NotContains(t, watcher.kinds, storageClassKind)

	w.mergeStatus(claimRef("data"), `{"status":{"phase":"Pending"}}`)
	w.calm(r)
	assert.Positive(t, read)
	assert.Contains(t, watcher.refs, deploy.Ref{Kind: storageClassKind, Name: "late"}, "it is followed, so that it is held")

	w.mergeStatus(claimRef("data"), `{"status":{"phase":"Bound"}}`)
	read, watcher.refs = 0, nil
	w.calm(r)
	assert.Zero(t, read, "how a bound claim was bound doesn't matter")
	assert.Empty(t, watcher.refs)
	assert.NotContains(t, w.message(), "WaitForFirstConsumer")
}

func TestClassesThatCantBeRead(t *testing.T) {
	t.Parallel()
	for _, row := range []struct {
		reason string
		err    error
		says   string
		logged int
		fails  bool
	}{
		{reason: "a right is missing", err: &deploy.ForbiddenError{Verb: "list", Resource: schema.GroupResource{Group: "storage.k8s.io", Resource: "storageclasses"}, Err: errors.New("no")}, says: "storageclasses.storage.k8s.io is missing", logged: 1},
		{reason: "the cluster has no such kind", err: &deploy.KindUnknownError{Kind: storageClassKind}, says: "the claim isn't bound yet"},
		{reason: "the API server doesn't answer", err: &deploy.UnavailableError{Err: errors.New("away")}, says: "away", fails: true},
	} {
		for _, class := range []any{"late", nil} {
			t.Run("status 25: "+row.reason, func(t *testing.T) {
				t.Parallel()
				w := newWorld(t, storageClass("late", "WaitForFirstConsumer", "storageclass.kubernetes.io/is-default-class"))
				r := w.reconciler(dataThenApp(class), WithWatcher(&following{err: row.err}))
				_, _, _ = w.once(r)
				w.mergeStatus(claimRef("data"), `{"status":{"phase":"Pending"}}`)
				for range 3 {
					_, _, err := w.once(r)
					if row.fails {
						require.ErrorIs(t, err, row.err)
						assert.ErrorContains(t, err, row.says)
						continue
					}
					require.NoError(t, err)
					assert.Contains(t, w.message(), row.says)
				}
				assert.Nil(t, w.get(configMapRef("app")), "it waits as without storage classes")
				assert.Equal(t, row.logged, strings.Count(w.logs.String(), "level=WARN"), "once: %s", w.logs)
			})
		}
	}
}

// TestReadyByFields has that each field of a Checker decides.
func TestReadyByFields(t *testing.T) {
	t.Parallel()
	kind := func(group, name string) schema.GroupVersionKind {
		return schema.GroupVersionKind{Group: group, Version: "v1", Kind: name}
	}
	for _, row := range []struct {
		field   string
		kind    schema.GroupVersionKind
		spec    map[string]any
		status  string
		checker readiness.Checker
		without bool
	}{
		{"ContainerGrace", podKind, nil, `{"phase":"Pending","containerStatuses":[{"name":"c","state":{"waiting":{"reason":"ErrImagePull"}}}]}`, readiness.Checker{ContainerGrace: time.Hour}, false},
		{"SuspendedJobReady", kind("batch", "Job"), map[string]any{"suspend": true}, `{"conditions":[{"type":"Suspended","status":"True"}]}`, readiness.Checker{SuspendedJobReady: true}, false},
		{"IngressNeedsAddress", kind("networking.k8s.io", "Ingress"), nil, `{}`, readiness.Checker{IngressNeedsAddress: true}, true},
		{"BudgetNeedsHealthy", kind("policy", "PodDisruptionBudget"), nil, `{"observedGeneration":1,"desiredHealthy":2,"currentHealthy":1}`, readiness.Checker{BudgetNeedsHealthy: true}, true},
	} {
		t.Run(row.field, func(t *testing.T) {
			t.Parallel()
			verdicts := map[bool]string{}
			for _, set := range []bool{false, true} {
				w := newWorld(t)
				options := []Option{ReadyBy(readiness.Checker{SuspendedJobReady: false})}
				if set {
					options = []Option{ReadyBy(row.checker), ReadyBy(readiness.Checker{})} // a later one adds up
				}
				r := w.reconciler(adding(func(s *Session) {
					o := object(row.kind, "it")
					o.Object["spec"] = row.spec
					s.Add("c", o)
				}), options...)
				_, _, _ = w.once(r)
				w.mergeStatus(deploy.Ref{Kind: row.kind, Namespace: "shop", Name: "it"}, `{"status":`+row.status+`}`)
				_, _, _ = w.once(r)
				verdicts[set] = w.verdict()
			}
			assert.NotEqual(t, verdicts[false], verdicts[true], "it makes a difference")
			assert.Equal(t, row.without, verdicts[false] == "Stable/Stable")
		})
	}
}
