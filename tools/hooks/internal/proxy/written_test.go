package proxy_test

import (
	"net/http"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/operkit/operkit/tools/hooks/internal/proxy"
)

// TestWritten has a row for each kind of request, and what it adds to the objects that a run has written.
func TestWritten(t *testing.T) {
	t.Parallel()
	configMap := func(namespace, name string) []proxy.Object {
		return []proxy.Object{{Kind: schema.GroupVersionKind{Version: "v1", Kind: "ConfigMap"}, Namespace: namespace, Name: name}}
	}
	respond := func(w http.ResponseWriter, r received) {
		switch {
		case r.URL.Query().Get("fieldManager") == "lost":
			panic(http.ErrAbortHandler)
		case r.URL.Query().Get("fieldManager") == "bad":
			w.WriteHeader(http.StatusConflict)
		case r.URL.Query().Get("fieldManager") == "stored":
			assert.Equal(t, "application/json", r.Header.Get("Accept"), "the response can be read")
			_, _ = w.Write([]byte(`{"metadata":{"name":"b","uid":"c","resourceVersion":"7"}}`))
		case strings.Contains(r.Body, "generateName"):
			assert.Equal(t, "application/json", r.Header.Get("Accept"), "the response can be read")
			_, _ = w.Write([]byte(`{"metadata":{"name":"b-12345"}}`))
		default:
			existing(w, r)
		}
	}
	const (
		in    = "/api/v1/namespaces/a/configmaps"
		merge = "application/merge-patch+json"
		apply = "application/apply-patch+yaml"
	)
	for _, row := range []struct {
		reason, method, path, kind, body string
		want                             []proxy.Object
	}{
		{"a creation", "POST", in, "", `{"metadata":{"name":"b"}}`, configMap("a", "b")},
		{"under a generated name", "POST", in, "", `{"metadata":{"generateName":"b-"}}`, configMap("a", "b-12345")},
		{"an update", "PUT", in + "/b", "", `{}`, configMap("a", "b")},
		{"a patch", "PATCH", in + "/b", merge, `{}`, configMap("a", "b")},
		{"an apply", "PATCH", "/api/v1/namespaces/b/configmaps/b", apply, `{}`, configMap("b", "b")},
		{"of a subresource", "PATCH", "/apis/apps/v1/namespaces/a/deployments/b/scale", merge, `{}`, []proxy.Object{{
			Kind: schema.GroupVersionKind{Group: "apps", Version: "v1", Kind: "Deployment"}, Namespace: "a", Name: "b",
		}}},
		{"with its state, whatever the client wants to read", "PATCH", in + "/b?fieldManager=stored", merge, `{}`, []proxy.Object{{
			Kind: schema.GroupVersionKind{Version: "v1", Kind: "ConfigMap"}, Namespace: "a", Name: "b", UID: "c", ResourceVersion: "7",
		}}},
		{"without a namespace", "POST", "/api/v1/namespaces", "", `{"metadata":{"name":"b"}}`, []proxy.Object{{Kind: schema.GroupVersionKind{Version: "v1", Kind: "Namespace"}, Name: "b"}}},
		{"one whose response is lost may have happened", "POST", in + "?fieldManager=lost", "", `{"metadata":{"name":"b"}}`, configMap("a", "b")},
		{"under a name that nobody knows", "POST", in + "?fieldManager=lost", "", `{"metadata":{"generateName":"b-"}}`, configMap("a", "")},
		{"one that fails adds nothing", "POST", in + "?fieldManager=bad", "", `{"metadata":{"name":"b"}}`, nil},
		{"nor does a dry run", "POST", in + "?dryRun=All", "", `{"metadata":{"name":"b"}}`, nil},
		{"nor a deletion", "DELETE", in + "/b", "", ``, nil},
		{"nor an eviction", "POST", "/api/v1/namespaces/a/pods/b/eviction", "", `{}`, nil},
		{"nor the owner", "PATCH", "/apis/example.com/v1/namespaces/a/cats/tom/status", merge, `{}`, nil},
		{"nor a read", "GET", in + "/owned", "", ``, nil},
		{"nor what is refused", "POST", "/api/v1/namespaces/a/secrets", "", `{}`, nil},
	} {
		t.Run("hooks 47: "+row.reason, func(t *testing.T) {
			t.Parallel()
			p, _ := startProxy(t, startFake(t, respond).url)
			access := issue(t, p, configMaps, deployments, pods, namespaces)
			headers := []string{}
			if row.kind != "" {
				headers = append(headers, "Content-Type", row.kind)
			}
			if strings.Contains(row.path, "=stored") {
				headers = append(headers, "Accept", "application/vnd.kubernetes.protobuf,application/json")
			}
			use(t, access).do(t, row.method, row.path, row.body, headers...)
			access.End()
			assert.Equal(t, row.want, access.Written())
		})
	}
	t.Run("hooks 47: each object once, sorted", func(t *testing.T) {
		t.Parallel()
		p, _ := startProxy(t, startFake(t, nil).url)
		access := issue(t, p, configMaps, namespaces)
		client := use(t, access)
		for _, name := range []string{"c", "b", "c"} {
			client.do(t, "POST", in, `{"metadata":{"name":"`+name+`"}}`)
			client.do(t, "POST", "/api/v1/namespaces/A/configmaps", `{"metadata":{"name":"`+name+`"}}`)
			client.do(t, "POST", "/api/v1/namespaces", `{"metadata":{"name":"`+name+`"}}`)
		}
		var got []string
		for _, one := range access.Written() {
			got = append(got, one.Kind.Kind+" "+one.Namespace+"/"+one.Name)
		}
		assert.Equal(t, []string{"ConfigMap A/b", "ConfigMap A/c", "ConfigMap a/b", "ConfigMap a/c", "Namespace /b", "Namespace /c"}, got)
	})
}

func TestLog(t *testing.T) {
	t.Parallel()
	t.Run("hooks 48: a line for each write, and none for a read", func(t *testing.T) {
		p, logs := startProxy(t, startFake(t, nil).url)
		client := use(t, issue(t, p, configMaps))
		client.do(t, "GET", "/api/v1/namespaces/a/configmaps", "")
		assert.Empty(t, logs.String())
		client.do(t, "POST", "/api/v1/namespaces/a/configmaps", `{"metadata":{"name":"b"},"data":{"password":"hush"}}`)
		client.do(t, "DELETE", "/api/v1/namespaces/a/secrets/c", "")
		lines := strings.Split(strings.TrimSpace(logs.String()), "\n")
		if assert.Len(t, lines, 2) {
			assert.Contains(t, lines[0], `level=DEBUG msg="write of a run" owner="Cat.example.com a/tom" serviceAccount=a/runner verb=create resource=configmaps group="" namespace=a name=b code=200`)
			assert.Contains(t, lines[1], `verb=delete resource=secrets group="" namespace=a name=c code=403`)
		}
		assert.NotContains(t, logs.String(), "hush")
		assert.NotContains(t, logs.String(), client.token)
	})
}
