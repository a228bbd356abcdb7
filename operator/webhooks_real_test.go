package operator_test

import (
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/operkit/operkit/deploy"
	"github.com/operkit/operkit/tools/envtest"
	"github.com/operkit/operkit/tools/envtest/audit"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	rbacv1 "k8s.io/api/rbac/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
)

var (
	validatings = schema.GroupVersionKind{Group: "admissionregistration.k8s.io", Version: "v1", Kind: "ValidatingWebhookConfiguration"}
	mutatings   = schema.GroupVersionKind{Group: "admissionregistration.k8s.io", Version: "v1", Kind: "MutatingWebhookConfiguration"}
	policies    = schema.GroupVersionKind{Group: "admissionregistration.k8s.io", Version: "v1", Kind: "ValidatingAdmissionPolicy"}
	crds        = schema.GroupVersionKind{Group: "apiextensions.k8s.io", Version: "v1", Kind: "CustomResourceDefinition"}
)

// crateWorld has a cluster of its own, since webhooks are for a whole cluster, and a balancer before two replicas.
type crateWorld struct {
	*world
	balancer *balancer
	replicas []*process
}

// newCrateWorld starts no replica yet.
func newCrateWorld(t *testing.T) *crateWorld {
	w := &crateWorld{world: newWorld(t, envtest.OwnCluster(), envtest.CRDs("testdata/webhooks"))}
	w.balancer = newBalancer(t, freeAddress(), freeAddress())
	return w
}

// crateUser is a user with the rights of the operator that the README names.
func (w *crateWorld) crateUser(name string) *envtest.User {
	w.t.Helper()
	inNamespace := append(append(leading(w.t), rightsIn(w.t, "and in a Role in the operator's namespace")...), rightsIn(w.t, "## Events\n")...)
	return w.User(w.t, name, envtest.ClusterWide(append(rightsIn(w.t, "## Webhooks\n"), crateRights...)...), envtest.InNamespace(inNamespace...))
}

// replica starts the replica behind the balancer's backend, in a Pod.
func (w *crateWorld) start(i int, flags ...string) *process {
	w.t.Helper()
	user := w.crateUser(fmt.Sprintf("crates-%d-%d", i, len(w.replicas)))
	all := append([]string{"--webhooks.address", w.balancer.backends[i], "--webhooks.url", "https://" + w.balancer.address()}, brief...)
	p := w.processIn([]string{ofCrates + "=1"}, user, append(all, flags...)...)
	w.replicas = append(w.replicas, p)
	return p
}

// crate creates a Crate of v1.
func (w *crateWorld) crate(name string, size int) error {
	w.t.Helper()
	object := &unstructured.Unstructured{Object: map[string]any{"spec": map[string]any{"size": int64(size)}}}
	object.SetGroupVersionKind(oldCrates)
	object.SetName(name)
	object.SetNamespace(w.Namespace)
	_, err := w.api.Port().Create(w.t.Context(), object, deploy.CreateOptions{FieldManager: "somebody"})
	return err
}

// change patches an object.
func (w *crateWorld) merge(kind schema.GroupVersionKind, name, body string) error {
	ref := w.ref(kind, name)
	if kind != oldCrates && kind != crates && kind != secretKind {
		ref.Namespace = ""
	}
	_, err := w.api.Port().Patch(w.t.Context(), ref, deploy.PatchRequest{Type: types.MergePatchType, Body: []byte(body), FieldManager: "somebody"})
	return err
}

func (w *crateWorld) cluster(kind schema.GroupVersionKind, name string) *unstructured.Unstructured {
	w.t.Helper()
	object, err := w.api.Port().Get(w.t.Context(), deploy.Ref{Kind: kind, Name: name})
	require.NoError(w.t, err)
	return object
}

// refused says how an error refuses a request.
func refused(t *testing.T, err error) string {
	t.Helper()
	invalid, ok := errors.AsType[*deploy.InvalidError](err)
	require.True(t, ok, "%T %v", err, err)
	return invalid.Error()
}

func TestWebhooks(t *testing.T) {
	t.Parallel()
	w := newCrateWorld(t)
	require.NoError(t, w.crate("before", 3))
	first := w.start(0)
	w.eventually("it works", func() bool { return w.mode("before") == "3" })
	second := w.start(1)
	w.eventually("it waits", second.says("another replica leads"))
	for i, who := range []string{"the leader", "a replica that waits"} {
		t.Run("webhooks 1, 2: "+who+" answers", func(t *testing.T) {
			w.balancer.use(i)
			name := fmt.Sprint("crate-", i)
			require.NoError(t, w.crate(name, 5))
			live := w.get(crates, name)
			colour, _, _ := unstructured.NestedString(live.Object, "spec", "colour")
			litres, _, _ := unstructured.NestedInt64(live.Object, "spec", "volume", "litres")
			assert.Equal(t, "green", colour, "it mutates")
			assert.Equal(t, int64(5), litres, "it converts")
			assert.Contains(t, refused(t, w.merge(oldCrates, name, `{"spec":{"size":4}}`)), "spec.volume.litres: Forbidden: a crate can't shrink")
			assert.Contains(t, refused(t, w.merge(crates, name, `{"spec":{"colour":"plaid"}}`)), "no plaid", "the policy holds without it")
			assert.NoError(t, w.merge(oldCrates, name, `{"spec":{"size":6}}`))
		})
	}
	w.balancer.use(-1)
	t.Run("webhooks 3: what others change or delete is repaired", func(t *testing.T) {
		broken := `{"webhooks":[{"name":"validate.crate.webhooks.operkit.dev","clientConfig":{"url":"https://127.0.0.1:1/"},"sideEffects":"None","admissionReviewVersions":["v1"],"failurePolicy":"Ignore"}]}`
		require.NoError(t, w.merge(validatings, "crate-operator", broken))
		require.NoError(t, w.merge(crds, "crates.webhooks.operkit.dev", `{"spec":{"conversion":{"strategy":"None","webhook":null}}}`))
		require.NoError(t, w.api.Port().Delete(t.Context(), deploy.Ref{Kind: mutatings, Name: "crate-operator"}, deploy.DeleteOptions{}))
		w.eventually("it is repaired", func() bool {
			hooks, _, _ := unstructured.NestedSlice(w.cluster(validatings, "crate-operator").Object, "webhooks")
			policy := hooks[0].(map[string]any)["failurePolicy"]
			strategy, _, _ := unstructured.NestedString(w.cluster(crds, "crates.webhooks.operkit.dev").Object, "spec", "conversion", "strategy")
			return policy == "Fail" && strategy == "Webhook" && w.cluster(mutatings, "crate-operator") != nil
		})
	})
	t.Run("webhooks 3: settled nothing is sent", func(t *testing.T) {
		w.settled(t)
	})
	assert.Empty(t, w.Calls(t, first.user, second.user).Forbidden(), "the rights that the README names suffice")
	for _, p := range []*process{first, second} {
		assert.Empty(t, p.log.lines("level=ERROR"))
	}
}

// settled waits until no replica sends anything for three seconds, except for Leases.
func (w *crateWorld) settled(t *testing.T) {
	t.Helper()
	w.eventually("nothing is sent", func() bool {
		mark := w.Mark(t)
		time.Sleep(3 * time.Second)
		calls := audit.Calls{}
		for _, p := range w.replicas {
			calls = append(calls, w.CallsSince(t, mark, p.user).Filter(func(c audit.Call) bool { return c.Resource != "leases" })...)
		}
		return len(calls) == 0
	})
}

func TestWebhooksUnderLoad(t *testing.T) {
	t.Parallel()
	w := newCrateWorld(t)
	w.start(0)
	w.start(1)
	require.NoError(t, w.crate("one", 1000))
	w.eventually("it works", func() bool { return w.mode("one") == "1000" })
	requests := 500
	if os.Getenv("OPERKIT_SOAK") != "" {
		requests = 10_000
	}
	t.Run("webhooks 6: no request is answered wrongly while certificates are renewed and rolled", func(t *testing.T) {
		var wrong atomic.Int64
		var running sync.WaitGroup
		slots := make(chan struct{}, 50)
		ticker := time.NewTicker(time.Second / 50)
		defer ticker.Stop()
		for i := range requests {
			<-ticker.C
			if i%100 == 50 {
				w.renew(t, i)
			}
			slots <- struct{}{}
			running.Go(func() {
				defer func() { <-slots }()
				if err := w.ask(i); err != nil {
					wrong.Add(1)
					t.Log(i, err)
				}
			})
		}
		running.Wait()
		assert.Zero(t, wrong.Load())
		t.Logf("SOAK webhooks: %d requests while certificates rotate, %d wrongly answered", requests, wrong.Load())
	})
}

// ask sends one of five requests, and returns an error if it isn't answered as it must be.
func (w *crateWorld) ask(i int) error {
	switch i % 5 {
	case 0:
		err := w.merge(oldCrates, "one", `{"spec":{"size":1}}`)
		if invalid, ok := errors.AsType[*deploy.InvalidError](err); !ok {
			return fmt.Errorf("a shrink: %w (%T)", err, invalid)
		}
	case 1:
		if err := w.merge(crates, "one", fmt.Sprintf(`{"metadata":{"annotations":{"example.com/i":"%d"}}}`, i)); err != nil {
			if _, stale := errors.AsType[*deploy.StaleError](err); !stale {
				return fmt.Errorf("an annotation: %w", err)
			}
		}
	case 2:
		return w.crate(fmt.Sprint("crate-", i), i)
	case 3:
		live, err := w.api.Port().Get(w.t.Context(), w.ref(oldCrates, "one"))
		if err != nil {
			return err
		}
		if size, _, _ := unstructured.NestedInt64(live.Object, "spec", "size"); size != 1000 {
			text, _ := json.Marshal(live.Object)
			return fmt.Errorf("read in v1: %s", text)
		}
	default:
		err := w.merge(crates, "one", `{"spec":{"colour":"plaid"}}`)
		if _, ok := errors.AsType[*deploy.InvalidError](err); !ok {
			return fmt.Errorf("plaid: %w", err)
		}
	}
	return nil
}

// renew has the certificate renewed: in turn the leaf alone, and the CA too.
func (w *crateWorld) renew(t *testing.T, i int) {
	t.Helper()
}

var _ = rbacv1.PolicyRule{}
