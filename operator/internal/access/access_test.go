package access_test

import (
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/operkit/operkit/operator/internal/access"
	"github.com/operkit/operkit/tools/envtest"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	rbacv1 "k8s.io/api/rbac/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/dynamic"
	"k8s.io/client-go/rest"
)

var (
	accounts = schema.GroupVersionResource{Version: "v1", Resource: "serviceaccounts"}
	bindings = schema.GroupVersionResource{Group: "rbac.authorization.k8s.io", Version: "v1", Resource: "clusterrolebindings"}
	roles    = schema.GroupVersionResource{Group: "rbac.authorization.k8s.io", Version: "v1", Resource: "clusterroles"}

	// delegator is what the ClusterRole system:auth-delegator allows.
	delegator = envtest.ClusterWide(
		rbacv1.PolicyRule{Verbs: []string{"create"}, APIGroups: []string{"authentication.k8s.io"}, Resources: []string{"tokenreviews"}},
		rbacv1.PolicyRule{Verbs: []string{"create"}, APIGroups: []string{"authorization.k8s.io"}, Resources: []string{"subjectaccessreviews"}},
	)
)

// token makes a service account and returns a token of it.
func token(t *testing.T, env *envtest.Env, client dynamic.Interface, name string) string {
	t.Helper()
	account := &unstructured.Unstructured{Object: map[string]any{"apiVersion": "v1", "kind": "ServiceAccount", "metadata": map[string]any{"name": name}}}
	_, err := client.Resource(accounts).Namespace(env.Namespace).Create(t.Context(), account, metav1.CreateOptions{})
	require.NoError(t, err)
	request := &unstructured.Unstructured{Object: map[string]any{"apiVersion": "authentication.k8s.io/v1", "kind": "TokenRequest", "metadata": map[string]any{"name": name}, "spec": map[string]any{}}}
	made, err := client.Resource(accounts).Namespace(env.Namespace).Create(t.Context(), request, metav1.CreateOptions{}, "token")
	require.NoError(t, err)
	text, _, err := unstructured.NestedString(made.Object, "status", "token")
	require.NoError(t, err)
	return text
}

// mayRead lets a service account read a path.
func mayRead(t *testing.T, env *envtest.Env, client dynamic.Interface, account, path string) {
	t.Helper()
	name := env.Namespace + "-" + account
	for resource, object := range map[schema.GroupVersionResource]map[string]any{
		roles: {"kind": "ClusterRole", "rules": []any{map[string]any{"nonResourceURLs": []any{path}, "verbs": []any{"get"}}}},
		bindings: {
			"kind": "ClusterRoleBinding", "roleRef": map[string]any{"apiGroup": "rbac.authorization.k8s.io", "kind": "ClusterRole", "name": name},
			"subjects": []any{map[string]any{"kind": "ServiceAccount", "namespace": env.Namespace, "name": account}},
		},
	} {
		object["apiVersion"], object["metadata"] = "rbac.authorization.k8s.io/v1", map[string]any{"name": name}
		_, err := client.Resource(resource).Create(t.Context(), &unstructured.Unstructured{Object: object}, metav1.CreateOptions{})
		require.NoError(t, err)
	}
}

// page asks for a page and returns the answer.
func page(t *testing.T, handler http.Handler, path string, header ...string) (code int, text string) {
	t.Helper()
	request := httptest.NewRequestWithContext(t.Context(), http.MethodGet, path, nil)
	for _, value := range header {
		request.Header.Add("Authorization", value)
	}
	answer := httptest.NewRecorder()
	handler.ServeHTTP(answer, request)
	body, err := io.ReadAll(answer.Body)
	require.NoError(t, err)
	return answer.Code, strings.TrimSpace(string(body))
}

var pages = http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { _, _ = io.WriteString(w, "the page") })

func TestProtect(t *testing.T) {
	t.Parallel()
	env := envtest.Start(t, envtest.Rights(delegator))
	client, err := dynamic.NewForConfig(env.Admin)
	require.NoError(t, err)
	mayRead(t, env, client, "prometheus", "/metrics")
	reader, stranger := token(t, env, client, "prometheus"), token(t, env, client, "stranger")
	reviewer, err := access.New(env.Config, slog.New(slog.DiscardHandler))
	require.NoError(t, err)
	protected := reviewer.Protect(pages)

	require.Eventually(t, func() bool {
		code, _ := page(t, protected, "/metrics", "Bearer "+reader)
		return code == http.StatusOK
	}, 30*time.Second, time.Second, "RBAC takes a moment")
	for _, row := range []struct {
		reason, path, authorization string
		code                        int
		text                        string
	}{
		{"who may", "/metrics", "Bearer " + reader, 200, "the page"},
		{"the scheme's name is written as one likes", "/metrics", "bearer  " + reader, 200, "the page"},
		{"another path", "/secrets", "Bearer " + reader, 403, "system:serviceaccount:" + env.Namespace + ":prometheus may not get /secrets"},
		{"who may not", "/metrics", "Bearer " + stranger, 403, "system:serviceaccount:" + env.Namespace + ":stranger may not get /metrics"},
		{"an unknown token", "/metrics", "Bearer nonsense", 401, "doesn't know this token"},
		{"no token", "/metrics", "", 401, "Authorization: Bearer TOKEN"},
		{"an empty token", "/metrics", "Bearer ", 401, "Authorization: Bearer TOKEN"},
		{"another scheme", "/metrics", "Basic " + reader, 401, "Authorization: Bearer TOKEN"},
	} {
		code, text := page(t, protected, row.path, row.authorization)
		assert.Equal(t, row.code, code, row.reason)
		assert.Contains(t, text, row.text, row.reason)
	}
	mark := env.Mark(t)
	for range 10 {
		code, _ := page(t, protected, "/metrics", "Bearer "+reader)
		assert.Equal(t, 200, code)
	}
	assert.Empty(t, env.CallsSince(t, mark, env.Self), "the API server isn't asked for each page")
}

func TestProtectWithoutAnAnswer(t *testing.T) {
	t.Parallel()
	t.Run("without the right to ask", func(t *testing.T) {
		t.Parallel()
		env := envtest.Start(t, envtest.Rights(envtest.EverythingInNamespace()))
		reviewer, err := access.New(env.Config, slog.New(slog.DiscardHandler))
		require.NoError(t, err)
		code, text := page(t, reviewer.Protect(pages), "/metrics", "Bearer some")
		assert.Equal(t, http.StatusServiceUnavailable, code)
		assert.NotContains(t, text, "the page")
	})
	for reason, answer := range map[string]string{
		"no JSON": "sorry", "nobody is named": `{"status":{"authenticated":true}}`, "a failure": "",
	} {
		t.Run(reason, func(t *testing.T) {
			t.Parallel()
			var asked atomic.Int32
			server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
				asked.Add(1)
				w.Header().Set("Content-Type", "application/json")
				if answer == "" {
					w.WriteHeader(http.StatusInternalServerError)
				}
				_, _ = io.WriteString(w, answer)
			}))
			defer server.Close()
			reviewer, err := access.New(&rest.Config{Host: server.URL}, slog.New(slog.DiscardHandler))
			require.NoError(t, err)
			for range 2 {
				code, text := page(t, reviewer.Protect(pages), "/metrics", "Bearer some")
				assert.Equal(t, http.StatusServiceUnavailable, code, "nobody is let in")
				assert.NotContains(t, text, "the page")
			}
			assert.GreaterOrEqual(t, asked.Load(), int32(2), "that isn't kept")
		})
	}
}

func TestManyStrangers(t *testing.T) {
	t.Parallel()
	release := make(chan struct{})
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		<-release
		w.Header().Set("Content-Type", "application/json")
		_, _ = io.WriteString(w, `{"status":{"authenticated":false}}`)
	}))
	defer server.Close()
	reviewer, err := access.New(&rest.Config{Host: server.URL, QPS: -1}, slog.New(slog.DiscardHandler))
	require.NoError(t, err)
	protected := reviewer.Protect(pages)
	codes := make(chan int, 50)
	for i := range 50 {
		go func() {
			code, _ := page(t, protected, "/metrics", fmt.Sprint("Bearer stranger", i))
			codes <- code
		}()
	}
	got := map[int]int{}
	for range 46 {
		got[<-codes]++
	}
	close(release)
	for range 4 {
		got[<-codes]++
	}
	assert.Equal(t, map[int]int{http.StatusTooManyRequests: 46, http.StatusUnauthorized: 4}, got, "the API server isn't asked by as many as like to")
}
