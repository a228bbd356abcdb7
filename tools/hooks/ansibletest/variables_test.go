package ansibletest_test

import (
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/operkit/operkit/tools/hooks/internal/playbook"
	"github.com/operkit/operkit/tools/hooks/internal/watches"
)

func TestVariables(t *testing.T) {
	t.Run("hooks 76: variables reach a playbook, and those of the entry and the finalizer win", func(t *testing.T) {
		t.Parallel()
		b := newBench(t, playbook.Config{})
		b.in.Object.Object["spec"] = map[string]any{"sizeOf": int64(9007199254740993), "egressIPs": []any{"a"}, "state": "spec", "color": "spec"}
		b.in.Entry.Vars = map[string]any{"state": "entry", "color": "entry"}
		b.in.Entry.Finalizer = &watches.Finalizer{Vars: map[string]any{"state": "absent"}}
		b.in.Finalizes = true
		result, err := b.run(t, tasks(`
  - vars: {color: playbook}
    assert:
      that:
      - size_of == 9007199254740993
      - egress_ips == ["a"]
      - state == "absent"
      - color == "entry"
      - 'ansible_operator_meta == {"name": "sample", "namespace": "default"}'
      - _cache_example_com_memcached.metadata.name == "sample"
      - _cache_example_com_memcached_spec.sizeOf == 9007199254740993
`))
		require.NoError(t, err)
		assert.True(t, result.Succeeded(), "%+v", result)
	})
	const spec = "{{ lookup('pipe', 'echo evaluated') }}"
	for _, row := range []struct {
		reason   string
		isUnsafe bool
		want     string
	}{{"with markUnsafe it isn't", true, spec}, {"otherwise it is, as by the Ansible operator", false, "evaluated"}} {
		t.Run("hooks 76: a text of the resource that is a template: "+row.reason, func(t *testing.T) {
			t.Parallel()
			b := newBench(t, playbook.Config{})
			b.in.Entry.MarkUnsafe = row.isUnsafe
			b.in.Object.Object["spec"] = map[string]any{"text": spec, "list": []any{map[string]any{"inner": spec}}}
			result, err := b.run(t, tasks(`
  - copy:
      content: "{{ text }} {{ list[0].inner }} {{ _cache_example_com_memcached.spec.text }}"
      dest: "{{ playbook_dir }}/result"
`))
			require.NoError(t, err)
			require.True(t, result.Succeeded(), "%+v", result)
			text, err := os.ReadFile(filepath.Join(b.dir, "result"))
			require.NoError(t, err)
			assert.Equal(t, row.want+" "+row.want+" "+row.want, string(text))
		})
	}
}

func TestRole(t *testing.T) {
	for _, row := range []struct{ reason, gathering, want string }{{"with facts", "implicit", "Linux"}, {"without facts, if the environment says so", "explicit", "none"}} {
		t.Run("hooks 77: a role is run, and finds roles beside it: "+row.reason, func(t *testing.T) {
			t.Parallel()
			b := newBench(t, playbook.Config{Env: []string{"ANSIBLE_GATHERING=" + row.gathering}})
			b.write(t, "roles/web/tasks/main.yml", "- include_role: {name: other}\n")
			b.write(t, "roles/other/tasks/main.yml", "- copy: {content: \"{{ size }} {{ ansible_system | default('none') }}\", dest: \""+b.dir+"/result\"}\n")
			b.in.Object.Object["spec"] = map[string]any{"size": int64(3)}
			b.in.Entry.Role = filepath.Join(b.dir, "roles", "web")
			result, err := b.run(t, "")
			require.NoError(t, err)
			require.True(t, result.Succeeded(), "%+v", result)
			text, err := os.ReadFile(filepath.Join(b.dir, "result"))
			require.NoError(t, err)
			assert.Equal(t, "3 "+row.want, string(text))
		})
	}
}

func TestRoles(t *testing.T) {
	t.Run("hooks 77: a playbook finds roles in the folder beside watches.yaml", func(t *testing.T) {
		t.Parallel()
		b := newBench(t, playbook.Config{})
		b.write(t, "roles/web/tasks/main.yml", "- debug: {msg: \"{{ role_name }}\"}\n")
		b.write(t, "playbooks/web.yml", "- hosts: localhost\n  gather_facts: false\n  roles: [web]\n")
		file := b.write(t, "watches.yaml", "- {group: cache.example.com, version: v1, kind: Memcached, playbook: playbooks/web.yml, manageStatus: False}\n")
		entries, err := watches.ReadFile(file, os.LookupEnv)
		require.NoError(t, err)
		b.in.Entry = entries[0]
		assert.False(t, b.in.Entry.ManageStatus)
		result, err := b.run(t, "")
		require.NoError(t, err)
		assert.True(t, result.Succeeded(), "%+v", result)
	})
}

// Nothing of a run goes on after it.
func TestAsync(t *testing.T) {
	t.Run("hooks 71: a task with async ends with the run", func(t *testing.T) {
		t.Parallel()
		b := newBench(t, playbook.Config{})
		file := filepath.Join(b.dir, "pid")
		result, err := b.run(t, tasks(`
  - command: sh -c 'echo $$ >`+file+`; exec sleep 600'
    async: 1000
    poll: 0
  - wait_for: {path: `+file+`}
`))
		require.NoError(t, err)
		require.True(t, result.Succeeded(), "%+v", result)
		text, err := os.ReadFile(file)
		require.NoError(t, err)
		assert.Eventually(t, func() bool {
			state, err := os.ReadFile("/proc/" + strings.TrimSpace(string(text)) + "/stat")
			return err != nil || strings.Contains(string(state), ") Z ")
		}, 30*time.Second, 10*time.Millisecond)
	})
}

// find is a task that needs the API.
const find = "  - kubernetes.core.k8s_info: {api_version: v1, kind: ConfigMap, namespace: default}\n"

func TestAPI(t *testing.T) {
	t.Run("hooks 78: modules use the kubeconfig of the run", func(t *testing.T) {
		t.Parallel()
		var authorized, others atomic.Int64
		server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			if r.Header.Get("Authorization") == "Bearer of-this-run" {
				authorized.Add(1)
			} else {
				others.Add(1)
			}
			http.Error(w, "{}", http.StatusForbidden)
		}))
		defer server.Close()
		b := newBench(t, playbook.Config{})
		b.in.Kubeconfig = []byte(`{apiVersion: v1, kind: Config, current-context: a, contexts: [{name: a, context: {cluster: a, user: a}}], ` +
			`clusters: [{name: a, cluster: {server: "` + server.URL + `"}}], users: [{name: a, user: {token: of-this-run}}]}`)
		result, err := b.run(t, tasks(find))
		require.NoError(t, err)
		assert.False(t, result.Succeeded(), "the server refuses everything")
		assert.Positive(t, authorized.Load(), output(t, result.Artifacts))
		assert.Zero(t, others.Load())
	})
	t.Run("hooks 78: without one, they reach no API server", func(t *testing.T) {
		t.Parallel()
		b := newBench(t, playbook.Config{Lookup: func(name string) (string, bool) {
			if name == "KUBERNETES_SERVICE_HOST" || name == "KUBECONFIG" || name == "K8S_AUTH_HOST" {
				return "127.0.0.1", true
			}
			return os.LookupEnv(name)
		}})
		result, err := b.run(t, tasks(find))
		require.NoError(t, err)
		require.Len(t, result.Failed, 1)
		assert.Contains(t, result.Message(), "Could not create API client")
	})
}
