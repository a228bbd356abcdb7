package operator_test

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
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

// crateWorld has a cluster of its own, since webhooks are for a whole cluster, and a balancer before two replicas. Its
// tests don't run in parallel: several clusters at once would take the time from each other.
type crateWorld struct {
	*world
	balancer *balancer
	replicas []*process
}

// newCrateWorld starts no replica yet.
func newCrateWorld(t *testing.T) *crateWorld {
	w := &crateWorld{world: newWorld(t, envtest.OwnCluster("--components=etcd,apiserver"), envtest.CRDs("testdata/webhooks"))}
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
	all := []string{"--webhooks.address", w.balancer.backends[i], "--webhooks.url", "https://" + w.balancer.address()}
	p := w.processIn([]string{ofCrates + "=1"}, user, append(all, flags...)...)
	w.replicas = append(w.replicas, p)
	return p
}

// first creates the first Crate, when the API server can convert it.
func (w *crateWorld) first(name string, size int) {
	w.t.Helper()
	w.eventually("it is converted", func() bool { return w.crate(name, size) == nil })
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

// enforced waits until the API server knows all that refuses changes of crates: it sees a policy and a webhook only some
// time after they were written.
func (w *crateWorld) enforced() {
	w.t.Helper()
	w.eventually("a crate for trying", func() bool { return w.crate("trying", 1000) == nil })
	for _, field := range []string{"weight", "height", "size"} {
		n := 1000
		_ = w.merge(oldCrates, "trying", fmt.Sprintf(`{"spec":{%q:%d}}`, field, n))
		w.eventually("the API server refuses a smaller "+field, func() bool {
			n--
			return w.merge(oldCrates, "trying", fmt.Sprintf(`{"spec":{%q:%d}}`, field, n)) != nil
		})
	}
}

func TestWebhooks(t *testing.T) {
	w := newCrateWorld(t)
	w.create("{apiVersion: webhooks.operkit.dev/v2, kind: Crate, metadata: {name: before}, spec: {volume: {litres: 3}}}")
	first := w.start(0)
	w.eventually("it works", func() bool { return w.mode("before") == "3" })
	second := w.start(1)
	w.eventually("it waits", second.says("another replica leads"))
	w.enforced()
	for i, who := range []string{"the leader", "a replica that waits"} {
		t.Run("webhooks 1, 2: "+who+" answers", func(t *testing.T) {
			w.balancer.use(i)
			w.eventually("the API server has noticed that its connections have ended", func() bool {
				return w.merge(oldCrates, "before", fmt.Sprintf(`{"metadata":{"annotations":{"example.com/answers":"%d"}}}`, i)) == nil
			})
			name := fmt.Sprint("crate-", i)
			require.NoError(t, w.crate(name, 5))
			live := w.get(crates, name)
			colour, _, _ := unstructured.NestedString(live.Object, "spec", "colour")
			litres, _, _ := unstructured.NestedInt64(live.Object, "spec", "volume", "litres")
			assert.Equal(t, "green", colour, "it mutates")
			assert.Equal(t, int64(5), litres, "it converts")
			require.NoError(t, w.merge(oldCrates, name, `{"spec":{"size":6,"weight":6,"height":6}}`))
			for _, layer := range []struct{ who, field, says string }{
				{"the definition", "weight", "spec.weight: Invalid value: 5: a crate can't get lighter"},
				{"the policy", "height", "spec.height: a crate can't get lower"},
				{"the webhook", "size", "spec.volume.litres: Forbidden: a crate can't shrink"},
			} {
				assert.Contains(t, refused(t, w.merge(oldCrates, name, `{"spec":{"`+layer.field+`":5}}`)), layer.says, "%s alone", layer.who)
			}
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
	t.Run("webhooks 9: the rights that the README names suffice", func(t *testing.T) {
		assert.Empty(t, w.Calls(t, first.user, second.user).Forbidden())
	})
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
	w := newCrateWorld(t)
	w.start(0, "--log.level", "warning")
	other := w.start(1, "--log.level", "warning")
	w.first("one", 1000)
	w.eventually("it works", func() bool { return w.mode("one") == "1000" })
	require.NoError(t, w.merge(oldCrates, "one", `{"spec":{"weight":1000,"height":1000}}`))
	for i := range many {
		require.NoError(t, w.crate(fmt.Sprint("many-", i), 1000))
	}
	requests, second := 200, 20
	if os.Getenv("OPERKIT_SOAK") != "" {
		requests, second = 10_000, 50
	}
	period, renewed := max(50, requests/14), 0 // more often the certificate isn't renewed, see tlssecret
	t.Run("webhooks 6: no request is answered wrongly while certificates are renewed and rolled, and a replica ends", func(t *testing.T) {
		var wrong atomic.Int64
		var running sync.WaitGroup
		slots := make(chan struct{}, 50)
		ticker := time.NewTicker(time.Second / time.Duration(second))
		defer ticker.Stop()
		for i := range requests {
			<-ticker.C
			switch i {
			case requests / 3:
				other.send(t, syscall.SIGTERM)
				time.AfterFunc(time.Second, func() { w.balancer.left[1].Store(true) }) // what a Service needs to see it
			case requests / 3 * 2:
				other.end(t)
				w.start(1, "--log.level", "warning")
				w.balancer.left[1].Store(false)
			}
			if i%period == period/2 {
				if w.renew(t, i, i/period%2 == 0); i/period%2 == 0 {
					renewed = i
				}
			}
			slots <- struct{}{}
			running.Go(func() {
				defer func() { <-slots }()
				if err := w.answered(i); err != nil {
					if wrong.Add(1) < 10 {
						t.Log(i, err)
					}
				}
			})
		}
		running.Wait()
		assert.Zero(t, wrong.Load())
		w.eventually("the CA was replaced each time", func() bool {
			return w.get(secretKind, "crate-operator-webhooks").GetAnnotations()["operkit.dev/renewed"] == fmt.Sprint(renewed)
		})
		t.Logf("SOAK webhooks: %d requests while certificates rotate, %d wrongly answered", requests, wrong.Load())
	})
}

// many is how many Crates are changed in turn. A change of an object that others change at the same time asks the
// webhooks again and again, so that it may take longer than the API server allows.
const many = 20

// answered asks until the API server has had the time to answer: on a machine with too much work it gives up by itself.
func (w *crateWorld) answered(i int) error {
	for {
		err := w.ask(i)
		if err == nil || !strings.Contains(err.Error(), "request did not complete within requested timeout") {
			return err
		}
		w.t.Log(i, "is asked again:", err)
	}
}

// ask sends one of five requests, and returns an error if it isn't answered as it must be.
func (w *crateWorld) ask(i int) error {
	switch i % 5 {
	case 0:
		field := []string{"size", "weight", "height"}[i/5%3] // one each for the webhook, the definition and the policy
		err := w.merge(oldCrates, "one", `{"spec":{"`+field+`":1}}`)
		if _, ok := errors.AsType[*deploy.InvalidError](err); !ok {
			return fmt.Errorf("a lower %s: %w", field, err)
		}
	case 1:
		if err := w.merge(crates, fmt.Sprint("many-", i/5%many), fmt.Sprintf(`{"metadata":{"annotations":{"example.com/i":"%d"}}}`, i)); err != nil {
			if _, stale := errors.AsType[*deploy.StaleError](err); !stale {
				return fmt.Errorf("an annotation: %w", err)
			}
		}
	case 2:
		err := w.crate(fmt.Sprint("crate-", i), i)
		if _, asked := errors.AsType[*deploy.AlreadyExistsError](err); asked { // the time was over after it was stored
			return nil
		}
		return err
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

// renew has the CA replaced, or the certificate alone.
func (w *crateWorld) renew(t *testing.T, i int, ca bool) {
	t.Helper()
	body := `{"data":{"tls.crt":"","tls.key":""}}`
	if ca {
		body = fmt.Sprintf(`{"metadata":{"annotations":{"operkit.dev/renew":"%d"}}}`, i)
	}
	require.NoError(t, w.merge(secretKind, "crate-operator-webhooks", body))
}

// labelled creates a ConfigMap with the label tier in a namespace.
func (w *crateWorld) labelled(namespace, name, tier string) error {
	object := &unstructured.Unstructured{}
	object.SetGroupVersionKind(configMaps)
	object.SetNamespace(namespace)
	object.SetName(name)
	object.SetLabels(map[string]string{"tier": tier})
	_, err := w.api.Port().Create(w.t.Context(), object, deploy.CreateOptions{FieldManager: "somebody"})
	return err
}

func TestWebhooksWhileNoReplicaRuns(t *testing.T) {
	w := newCrateWorld(t)
	replicas := []*process{w.start(0, brief...), w.start(1, brief...)}
	w.eventually("it answers", func() bool {
		err := w.labelled("default", "refused", "tin")
		_, invalid := errors.AsType[*deploy.InvalidError](err)
		return invalid
	})
	w.first("one", 3)
	w.eventually("it works", func() bool { return w.mode("one") == "3" })
	for _, p := range replicas {
		p.send(t, syscall.SIGKILL)
		p.end(t)
	}
	t.Run("webhooks 7: the failure policy answers for its kinds, and its namespace works", func(t *testing.T) {
		assert.Error(t, w.crate("two", 3), "a mutator doesn't answer")
		assert.Error(t, w.labelled("default", "other", "gold"), "a validator doesn't answer")
		assert.NoError(t, w.labelled(w.Namespace, "own", "tin"), "its own namespace is left out")
		time.Sleep(10 * time.Second)
	})
	t.Run("webhooks 7: afterwards all heals", func(t *testing.T) {
		w.start(0, brief...)
		w.start(1, brief...)
		w.eventually("it works", func() bool { return w.crate("two", 4) == nil })
		w.eventually("it is reconciled", func() bool { return w.mode("two") == "4" })
		assert.NoError(t, w.labelled("default", "other", "gold"))
		w.settled(t)
	})
}

func TestWebhooksCommand(t *testing.T) {
	w := newCrateWorld(t)
	replica := w.start(0)
	w.first("one", 3)
	w.eventually("it works", func() bool { return w.mode("one") == "3" })
	person := w.User(t, "person", envtest.ClusterWide(rightsIn(t, "## Webhooks\n")...), envtest.InNamespace(
		rbacv1.PolicyRule{Verbs: []string{"get", "list", "delete"}, APIGroups: []string{"", "coordination.k8s.io"}, Resources: []string{"secrets", "leases"}},
	))
	run := func(args ...string) (int, string) {
		var out bytes.Buffer
		args = append(args, "--leader-election.namespace", w.Namespace)
		code := crateOperator().Execute(t.Context(), append([]string{"webhooks", "--kubeconfig", w.Kubeconfig(t, person)}, args...), &out, &out)
		return code, out.String()
	}
	t.Run("webhooks 8: it lists what is in the cluster", func(t *testing.T) {
		code, text := run()
		assert.Zero(t, code)
		var rows []string
		for line := range strings.Lines(text) {
			rows = append(rows, strings.Join(strings.Fields(line), " "))
		}
		assert.Equal(t, []string{
			"WHAT NAME WHILE NO OPERATOR RUNS",
			"validator validate.crate.webhooks.operkit.dev requests are refused",
			"validator validate.configmap.core requests are refused",
			"mutator mutate.crate.webhooks.operkit.dev requests are refused",
			"policy crates.webhooks.operkit.dev it is enforced",
			"conversion crates.webhooks.operkit.dev other versions than the stored one can't be read or written",
			"secret " + w.Namespace + "/crate-operator-webhooks it stays",
		}, rows)
	})
	t.Run("webhooks 8: without an answer nothing is removed, and it says that the operator runs", func(t *testing.T) {
		code, text := run("--remove")
		assert.Equal(t, 2, code)
		assert.Contains(t, text, "stop it, because it writes them again")
		assert.Contains(t, text, "nothing was removed: answer y, or give --yes")
	})
	replica.send(t, syscall.SIGTERM)
	replica.end(t)
	t.Run("webhooks 8: it removes all but conversions", func(t *testing.T) {
		code, text := run("--remove", "--yes")
		assert.Equal(t, 1, code)
		assert.Contains(t, text, "the conversion of crates.webhooks.operkit.dev stays")
		for _, kind := range []schema.GroupVersionKind{validatings, mutatings} {
			assert.Nil(t, w.cluster(kind, "crate-operator"))
		}
		assert.Nil(t, w.cluster(policies, "crates.webhooks.operkit.dev"))
		assert.Nil(t, w.get(secretKind, "crate-operator-webhooks"))
		code, text = run("--remove", "--yes", "--conversions")
		assert.Zero(t, code, text)
		definition := w.cluster(crds, "crates.webhooks.operkit.dev")
		strategy, _, _ := unstructured.NestedString(definition.Object, "spec", "conversion", "strategy")
		assert.Equal(t, "None", strategy)
		for key := range definition.GetAnnotations() {
			assert.NotContains(t, key, "operkit.dev/", "nothing of the operator is left")
		}
		_, text = run()
		assert.Equal(t, "nothing found: the operator has no webhook, conversion or policy in the cluster\n", text)
	})
}
