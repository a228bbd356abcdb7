package ansibletest_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/operkit/operkit/deploy"
	"github.com/operkit/operkit/deploy/bystander"
	"github.com/operkit/operkit/deploy/cluster"
	"github.com/operkit/operkit/tools/envtest"
	"github.com/operkit/operkit/tools/envtest/audit"
	"github.com/operkit/operkit/tools/envtest/program"
)

const example = "../../../examples/hook-ansible/"

var (
	notices    = schema.GroupVersionKind{Group: "examples.operkit.dev", Version: "v1", Kind: "Notice"}
	configMaps = schema.GroupVersionKind{Version: "v1", Kind: "ConfigMap"}
)

// world is a namespace of an API server, in which the operator runs playbooks for Notices.
type world struct {
	*bystander.Bystander
	t      *testing.T
	env    *envtest.Env
	user   *envtest.User
	folder string
}

// newWorld starts the operator with exactly the rights of the example. more are rules for the runs.
func newWorld(t *testing.T, watches string, more ...string) *world {
	t.Helper()
	env := envtest.Start(t, envtest.CRDs(example+"config/crd"))
	api, err := cluster.New(t.Context(), env.Admin)
	require.NoError(t, err)
	w := &world{bystander.New(t, api, env.Namespace, "somebody"), t, env, nil, t.TempDir()}
	rights, err := os.ReadFile(example + "config/runs.yaml")
	require.NoError(t, err)
	text := strings.ReplaceAll(string(rights), "namespace: default", "namespace: "+env.Namespace)
	for _, one := range strings.Split(strings.Replace(text, "rules:\n", "rules:\n"+strings.Join(more, ""), 1), "---\n") {
		w.CreateYAML(one)
	}
	w.user = env.User(t, "operator", envtest.RolesIn(example+"config/rbac"))
	program.Start(t, program.Command("run", "--namespace", env.Namespace, "--kubeconfig", env.Kubeconfig(t, w.user),
		"--watches", watches, "--playbook-folder", w.folder))
	return w
}

// serve writes a watches.yaml with a playbook, and returns its path.
func serve(t *testing.T, more, tasks string) string {
	t.Helper()
	dir := t.TempDir()
	playbook := "- hosts: localhost\n  gather_facts: false\n  tasks:\n" + tasks
	entry := "- group: examples.operkit.dev\n  version: v1\n  kind: Notice\n  playbook: notice.yml\n" + more
	require.NoError(t, os.WriteFile(filepath.Join(dir, "notice.yml"), []byte(playbook), 0o600))
	require.NoError(t, os.WriteFile(filepath.Join(dir, "watches.yaml"), []byte(entry), 0o600))
	return filepath.Join(dir, "watches.yaml")
}

// notice returns a Notice.
func notice(text string) *unstructured.Unstructured {
	obj := &unstructured.Unstructured{Object: map[string]any{"spec": map[string]any{"text": text}}}
	obj.SetGroupVersionKind(notices)
	obj.SetName("wet-paint")
	return obj
}

// condition returns a condition of the Notice as in "True Successful Last reconciliation succeeded", if it is about the
// present generation.
func (w *world) condition(kind string) string {
	obj := w.Get(notices, "wet-paint")
	list, _, _ := unstructured.NestedSlice(obj.Object, "status", "conditions")
	for _, one := range list {
		fields := one.(map[string]any)
		if fields["type"] == kind && fields["observedGeneration"] == obj.GetGeneration() {
			return strings.Join([]string{fields["status"].(string), fields["reason"].(string), fields["message"].(string)}, " ")
		}
	}
	return ""
}

// succeeds waits until the latest change has been run.
func (w *world) succeeds(reason string) {
	w.t.Helper()
	w.Eventually(reason, func() bool { return w.condition("Successful") == "True Successful Last reconciliation succeeded" })
	w.env.AwaitQuiet(w.t, w.user)
}

// fails waits until the latest change has failed, and returns the message.
func (w *world) fails(reason string) string {
	w.t.Helper()
	w.Eventually(reason, func() bool { return strings.HasPrefix(w.condition("Failure"), "True Failed ") })
	return strings.TrimPrefix(w.condition("Failure"), "True Failed ")
}

// runs returns how many runs there were.
func (w *world) runs() int {
	all, err := filepath.Glob(filepath.Join(w.folder, "artifacts", "*", "*", "*", "*"))
	require.NoError(w.t, err)
	return len(all)
}

// says returns the text of the ConfigMap.
func (w *world) says() any {
	if found := w.Get(configMaps, "wet-paint"); found != nil {
		return found.Object["data"].(map[string]any)["notice"]
	}
	return nil
}

// The example, with exactly the rights that it asks for.
func TestExample(t *testing.T) {
	t.Parallel()
	w := newWorld(t, example+"watches.yaml")
	w.Create(notice("Wet paint"))
	w.succeeds("it is run")
	assert.Equal(t, "Wet paint", w.says())
	made := w.Get(notices, "wet-paint")
	assert.Equal(t, "wet-paint", made.Object["status"].(map[string]any)["configMap"])
	owners := w.Get(configMaps, "wet-paint").GetOwnerReferences()
	require.Len(t, owners, 1)
	assert.Equal(t, made.GetUID(), owners[0].UID)
	assert.Equal(t, 1, w.runs(), "what the run has written brings no other one")

	mark := w.env.Mark(t)
	w.env.AwaitQuiet(t, w.user)
	isAboutObjects := func(c audit.Call) bool { return c.Resource != "" } // besides, it looks each minute which kinds are served
	assert.Empty(t, w.env.CallsSince(t, mark, w.user).Filter(isAboutObjects), "settled: no request")
	assert.Equal(t, 1, w.runs(), "and no run")

	w.Merge(notices, "wet-paint", `{"spec":{"text":"Dry now","signedBy":"the painter"}}`)
	w.succeeds("a change is run")
	assert.Equal(t, "Dry now (the painter)", w.says())
	assert.Equal(t, 2, w.runs())
	w.Delete(configMaps, "wet-paint")
	w.Eventually("it comes back", func() bool { return w.says() == "Dry now (the painter)" })
	w.env.AwaitQuiet(t, w.user)
	assert.Equal(t, 3, w.runs())
	assert.Empty(t, w.env.Calls(t, w.user).Forbidden(), "its rights suffice")
}

const granted = "  serviceAccount: {name: notices}\n  manages:\n  - {apiVersion: v1, kind: ConfigMap}\n"

// A run has the rights of its ServiceAccount, and as long as it runs.
func TestAccess(t *testing.T) {
	t.Parallel()
	stolen := filepath.Join(t.TempDir(), "kubeconfig")
	w := newWorld(t, serve(t, granted, `
  - ansible.builtin.copy: {src: "{{ lookup('env', 'K8S_AUTH_KUBECONFIG') }}", dest: `+stolen+`, mode: "0600"}
  - kubernetes.core.k8s_info: {api_version: v1, kind: ConfigMap, name: "{{ ansible_operator_meta.name }}", namespace: "{{ ansible_operator_meta.namespace }}"}
    when: text == "read"
  - kubernetes.core.k8s_info: {api_version: v1, kind: Secret, name: password, namespace: "{{ ansible_operator_meta.namespace }}"}
    when: text == "spy"
  - kubernetes.core.k8s:
      definition: {apiVersion: v1, kind: ServiceAccount, metadata: {name: mine, namespace: "{{ ansible_operator_meta.namespace }}"}}
    when: text == "escalate"
`), "- {apiGroups: [\"\"], resources: [serviceaccounts], verbs: [get, create]}\n")
	w.CreateYAML(`{apiVersion: v1, kind: Secret, metadata: {name: password}, stringData: {password: hidden}}`)
	w.Create(notice("read"))
	w.succeeds("hooks 88: it may read ConfigMaps")
	w.Merge(notices, "wet-paint", `{"spec":{"text":"spy"}}`)
	said := w.fails("hooks 88: its ServiceAccount may not read Secrets")
	assert.Regexp(t, `secrets .*password.* is forbidden`, said)
	assert.Contains(t, said, "system:serviceaccount:"+w.env.Namespace+":notices")
	w.Merge(notices, "wet-paint", `{"spec":{"text":"escalate"}}`)
	assert.Contains(t, w.fails("hooks 88: the entry doesn't declare ServiceAccounts"), "may not write objects of the kind ServiceAccount")

	thief, err := cluster.Config(stolen, "")
	require.NoError(t, err)
	api, err := cluster.New(t.Context(), thief)
	require.NoError(t, err)
	_, err = api.Port().Get(t.Context(), deploy.Ref{Kind: configMaps, Namespace: w.env.Namespace, Name: "kube-root-ca.crt"})
	require.ErrorContains(t, err, "no valid token", "hooks 88: the token is worthless after the run")
	assert.Empty(t, w.env.Calls(t, w.user).Forbidden(), "nothing was asked for with the rights of the operator")
}

// A failure is reported and repeated, and the finalizer is run before the end.
func TestFailureAndEnd(t *testing.T) {
	t.Parallel()
	w := newWorld(t, serve(t, granted+"  finalizer:\n    name: examples.operkit.dev/notice\n    vars: {state: absent}\n", `
  - name: Complain
    ansible.builtin.fail: {msg: "too short: {{ text }}"}
    when: text | length < 3 and state is not defined
  - kubernetes.core.k8s:
      state: "{{ state | default('present') }}"
      definition: {apiVersion: v1, kind: ConfigMap, metadata: {name: wet-paint, namespace: "{{ ansible_operator_meta.namespace }}"}, data: {notice: "{{ text }}"}}
`), "- {apiGroups: [\"\"], resources: [configmaps], verbs: [delete]}\n")
	w.Create(notice("hm"))
	assert.Equal(t, "too short: hm", w.fails("hooks 82: it fails"))
	assert.Equal(t, []string{"examples.operkit.dev/notice"}, w.Get(notices, "wet-paint").GetFinalizers())
	w.Merge(notices, "wet-paint", `{"spec":{"text":"Wet paint"}}`)
	w.succeeds("it is mended")
	assert.Equal(t, "False Successful ", w.condition("Failure"))
	w.Delete(notices, "wet-paint")
	w.Eventually("hooks 86: the finalizer has run", func() bool { return w.Get(notices, "wet-paint") == nil })
}

// Without a ServiceAccount, a run has no access.
func TestNoAccess(t *testing.T) {
	t.Parallel()
	w := newWorld(t, serve(t, "", `
  - kubernetes.core.k8s_info: {api_version: v1, kind: ConfigMap, namespace: "{{ ansible_operator_meta.namespace }}"}
`))
	w.Create(notice("read"))
	assert.Contains(t, w.fails("hooks 88: it fails"), "Could not create API client")
}
