package main

import (
	"os"
	"strings"
	"testing"
	"time"

	"github.com/operkit/operkit/deploy"
	"github.com/operkit/operkit/deploy/cluster"
	v1 "github.com/operkit/operkit/examples/guestbook/api/v1"
	"github.com/operkit/operkit/status"
	"github.com/operkit/operkit/tools/envtest"
	"github.com/operkit/operkit/tools/envtest/program"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	rbacv1 "k8s.io/api/rbac/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
)

// outage is long enough for every client to be in the middle of its backoff.
const outage = 30 * time.Second

func TestNoCluster(t *testing.T) {
	t.Parallel()
	for _, row := range []struct {
		reason, kubeconfig, want string
	}{
		{"nothing says where the API server is", "", "no cluster: set KUBECONFIG"},
		{"a file that isn't there", "/nowhere/kubeconfig", "/nowhere/kubeconfig: no such file"},
	} {
		args := []string{"run"}
		if row.kubeconfig != "" {
			args = append(args, "--kubeconfig", row.kubeconfig)
		}
		command := program.Command(args...)
		command.Env = []string{"HOME=" + t.TempDir(), "PATH=" + os.Getenv("PATH")}
		result := program.Run(t, command)
		assert.Equal(t, 1, result.Code, row.reason)
		assert.Contains(t, result.Output(), row.want, row.reason)
		assert.Len(t, strings.Split(strings.TrimSpace(result.Output()), "\n"), 1, "one line: %s", result.Output())
	}
}

func TestAPIServerDown(t *testing.T) {
	t.Parallel()
	w := newWorld(t, envtest.OwnCluster())
	w.create()
	w.StopAPIServer(t)
	p := w.start()
	w.Eventually("it says that it waits", func() bool {
		return strings.Contains(p.Output(), "API server unavailable")
	})
	w.StartAPIServer(t)
	w.settled()

	mark := w.Mark(t)
	w.StopAPIServer(t)
	time.Sleep(outage)
	require.True(t, p.Running(), "it lives through the outage:\n%s", p.Output())
	w.StartAPIServer(t)
	w.Merge(v1.GuestbookKind, "hello", `{"spec":{"message":"Back again!"}}`)
	w.Eventually("a change after the outage is seen", func() bool { return w.data("message") == "Back again!" })
	assert.Contains(t, p.Output(), "watching again", "the end of the outage is said")
	// Kubernetes' own controllers, without which no Deployment becomes ready, wait up to a minute
	// between two tries, and more than once.
	w.settledWithin(4 * time.Minute)
	assert.Equal(t, map[string]int{"patch configmaps/hello-web": 1, "patch deployments/hello-web": 1},
		written(children(w.CallsSince(t, mark, w.operator))), "the outage itself costs no writes")
	assert.Less(t, strings.Count(p.Output(), "\n"), 100, "what happens is said once, not a thousand times:\n%s", p.Output())
}

func TestCRDNotInstalled(t *testing.T) {
	t.Parallel()
	w := newWorldFor(t, envtest.RolesIn("config/rbac/role.yaml"), envtest.OwnCluster())
	p := w.start()
	w.Eventually("it says what it waits for", func() bool {
		return strings.Contains(p.Output(), "kind Guestbook of examples.operkit.dev/v1 is not served by the cluster")
	})
	time.Sleep(time.Second)
	require.True(t, p.Running(), "it waits instead of ending")
	assert.Equal(t, 1, strings.Count(p.Output(), "is not served"), "and says so once")
	w.InstallCRDs(t, "config/crd")
	w.create()
	w.settled()
}

func TestNames(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	api, err := cluster.New(t.Context(), w.Admin)
	require.NoError(t, err)
	longest := strings.Repeat("a", 46)
	for _, row := range []struct {
		reason, name, refused string
	}{
		{"as long as a StatefulSet's name leaves room", longest, ""},
		{"one letter", "a", ""},
		{"digits and dashes", "a-1", ""},
		{"a StatefulSet's Pods would never come", longest + "a", "at most 46 characters"},
		{"no name of anything", "a-", "RFC 1123"},
		{"no name of a Service", "1a", "begins with a letter"},
		{"no name of a Service either", "a.b", "no dots"},
	} {
		book := guestbook(row.name)
		book.SetNamespace(w.Namespace)
		_, err := api.Port().Apply(t.Context(), book, deploy.ApplyOptions{FieldManager: "somebody"})
		if row.refused == "" {
			require.NoError(t, err, row.reason)
		} else {
			require.ErrorContains(t, err, row.refused, row.reason)
		}
	}
	w.start()
	w.Eventually("the longest name's Pods come", func() bool {
		store := w.Get(statefulSets, longest+"-redis")
		if store == nil {
			return false
		}
		ready, _, _ := unstructured.NestedInt64(store.Object, "status", "readyReplicas")
		return ready == 1
	})
}

func TestRightsMissingForOneKind(t *testing.T) {
	t.Parallel()
	all := []string{"get", "list", "watch", "create", "patch", "delete"}
	w := newWorldFor(t, envtest.ClusterWide(
		rbacv1.PolicyRule{Verbs: all, APIGroups: []string{v1.GuestbookKind.Group}, Resources: []string{"guestbooks", "guestbooks/status"}},
		rbacv1.PolicyRule{Verbs: []string{"update"}, APIGroups: []string{v1.GuestbookKind.Group}, Resources: []string{"guestbooks/finalizers"}},
		rbacv1.PolicyRule{Verbs: all, APIGroups: []string{""}, Resources: []string{"configmaps", "secrets"}},
		rbacv1.PolicyRule{Verbs: all, APIGroups: []string{"apps"}, Resources: []string{"deployments", "statefulsets"}},
	), envtest.CRDs("config/crd"))
	p := w.start()
	w.create()
	w.Eventually("the condition names verb, resource and namespace", func() bool {
		_, message, _ := w.condition(status.ConditionUpdating)
		return strings.Contains(message, "component redis") && strings.Contains(message, "watch services") &&
			strings.Contains(message, "in namespace "+w.Namespace)
	})
	ready, _, _ := w.condition(status.ConditionReady)
	assert.Equal(t, "False", ready)
	require.True(t, p.Running())
}

func TestChildOfAnotherOwner(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	owner := &unstructured.Unstructured{Object: map[string]any{}}
	owner.SetGroupVersionKind(configMaps)
	owner.SetName("other-owner")
	w.Apply(owner)
	theirs := &unstructured.Unstructured{Object: map[string]any{
		"data": map[string]any{"message": "theirs"},
		"metadata": map[string]any{"ownerReferences": []any{map[string]any{
			"apiVersion": "v1", "kind": "ConfigMap", "name": "other-owner", "uid": string(w.Get(configMaps, "other-owner").GetUID()),
		}}},
	}}
	theirs.SetGroupVersionKind(configMaps)
	theirs.SetName("hello-web")
	w.Apply(theirs)

	w.start()
	w.create()
	w.Eventually("the condition names the object and its owner", func() bool {
		_, message, _ := w.condition(status.ConditionUpdating)
		return strings.Contains(message, "ConfigMap "+w.Namespace+"/hello-web: belongs to ConfigMap other-owner")
	})
	assert.Equal(t, "theirs", w.data("message"), "nothing of it was taken")
	assert.Len(t, w.Get(configMaps, "hello-web").GetOwnerReferences(), 1)
	assert.Empty(t, w.Calls(t, w.operator).Of("configmaps").Writes(), "and no write was even tried")

	w.Delete(configMaps, "hello-web")
	w.settled()
	assert.Equal(t, "Welcome!", w.data("message"), "with it gone the rollout goes on")
}
