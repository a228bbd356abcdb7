package proxy_test

import (
	"net/http"
	"testing"

	"github.com/stretchr/testify/assert"
	"k8s.io/apimachinery/pkg/runtime/schema"
)

var (
	deployments = schema.GroupKind{Group: "apps", Kind: "Deployment"}
	pods        = schema.GroupKind{Kind: "Pod"}
	secrets     = schema.GroupKind{Kind: "Secret"}
	namespaces  = schema.GroupKind{Kind: "Namespace"}
	noKinds     = []schema.GroupKind{{Group: "apps"}}
	cats        = schema.GroupKind{Group: "example.com", Kind: "Cat"}
)

// What no run may do, whatever the rights of its ServiceAccount.
func TestRefused(t *testing.T) {
	t.Parallel()
	api := startFake(t, nil)
	p, _ := startProxy(t, api.url)
	client := use(t, issue(t, p, pods, secrets, configMaps, deployments, schema.GroupKind{Kind: "ServiceAccount"}))
	const ns = "/api/v1/namespaces/a"
	for _, row := range []struct {
		reason, method, path, body string
		code                       int
		want                       string
	}{
		{"a command in a container", "POST", ns + "/pods/b/exec?command=sh", "", 403, "pods/exec: connections to containers, Pods, Services and nodes aren't supported: use a Job that does it inside the cluster"},
		{"by GET", "GET", ns + "/pods/b/exec?command=sh", "", 403, "pods/exec: connections"},
		{"attaching", "POST", ns + "/pods/b/attach", "", 403, "pods/attach: connections"},
		{"forwarding ports", "POST", ns + "/pods/b/portforward", "", 403, "pods/portforward: connections"},
		{"the network of a Pod", "GET", ns + "/pods/b/proxy", "", 403, "pods/proxy: connections"},
		{"and what is behind", "GET", ns + "/pods/b/proxy/secret", "", 403, "pods/proxy/secret: connections"},
		{"of a Service", "GET", ns + "/services/https:b:443/proxy/", "", 403, "services/proxy: connections"},
		{"of a node", "GET", "/api/v1/nodes/b/proxy/runningpods", "", 403, "nodes/proxy/runningpods: connections"},
		{"the kubelet", "GET", "/api/v1/nodes/b/metrics", "", 403, "nodes/metrics: the kubelet isn't reached through the proxy"},
		{"an encoded subresource", "GET", ns + "/pods/b/pr%6Fxy", "", 403, "pods/proxy: connections"},
		{"the old form of a proxy", "GET", "/api/v1/proxy/namespaces/a/pods/b", "", 400, `"proxy" isn't a resource`},
		{"the old form of a watch", "GET", "/api/v1/watch/namespaces/a/pods", "", 400, `"watch" isn't a resource: to watch, list with watch=true`},
		{"a token", "POST", ns + "/serviceaccounts/runner/token", "{}", 403, "serviceaccounts/token: a token would outlive the run: mount the ServiceAccount in a Pod that needs it"},
		{"a token in a Secret", "POST", ns + "/secrets", `{"metadata":{"name":"b"},"type":"kubernetes.io/service-account-token"}`, 403, "a Secret of the type kubernetes.io/service-account-token: its token would outlive the run"},
		{"other paths", "GET", "/metrics", "", 403, "/metrics: a run may reach resources, and /api, /apis, /openapi and /version"},
		{"the root", "GET", "/", "", 403, "/: a run may reach resources"},
		{"logs of the node", "GET", "/logs/a", "", 403, "/logs/a: a run may reach"},
		{"the schemas of etcd", "GET", "/openapi", "", 403, "/openapi: a run may reach"},
		{"below the version", "GET", "/version/a", "", 403, "/version/a: a run may reach"},
		{"writes to documents", "POST", "/apis/apps/v1", "{}", 405, "/apis/apps/v1: the method POST isn't allowed"},
		{"a method of HTTP that the API doesn't have", "OPTIONS", ns + "/pods", "", 405, "the method OPTIONS isn't allowed"},
		{"another one", "TRACE", ns + "/pods", "", 405, "the method TRACE isn't allowed"},
		{"creating under a name", "POST", ns + "/pods/b", "{}", 405, "the method POST isn't allowed"},
		{"updating without one", "PUT", ns + "/pods", "{}", 405, "the method PUT isn't allowed"},
		{"patching without one", "PATCH", ns + "/pods", "{}", 405, "the method PATCH isn't allowed"},
	} {
		t.Run("hooks 42: "+row.reason, func(t *testing.T) {
			assert.Contains(t, client.refused(t, row.code, row.method, row.path, row.body), row.want)
		})
	}
	for _, headers := range [][]string{
		{"Connection", "Upgrade", "Upgrade", "websocket"}, {"Upgrade", "SPDY/3.1"}, {"Connection", "keep-alive, upgrade"},
		{"Connection", "Upgrade, HTTP2-Settings", "Upgrade", "h2c", "HTTP2-Settings", "AAMAAABkAARAAAAAAAIAAAAA"},
	} {
		t.Run("hooks 42: an upgrade", func(t *testing.T) {
			got := client.refused(t, http.StatusForbidden, "GET", ns+"/pods/b/exec", "", headers...)
			assert.Contains(t, got, "upgraded connections, such as for exec, attach and port-forward, aren't supported")
		})
	}
	assert.Empty(t, api.requests(), "none of them has reached the API server")
}

func TestPrefix(t *testing.T) {
	t.Parallel()
	t.Run("hooks 43: an API server behind a prefix", func(t *testing.T) {
		api := startFake(t, nil)
		for _, prefix := range []string{"/k8s/clusters/c", "/k8s/clusters/c/"} {
			p, _ := startProxy(t, api.url+prefix)
			use(t, issue(t, p)).do(t, "GET", "/api/v1/namespaces/a/configmaps?limit=1", "")
			assert.Equal(t, "/k8s/clusters/c/api/v1/namespaces/a/configmaps?limit=1", api.requests()[0].RequestURI)
		}
	})
}

// What each run may do, without a declaration.
func TestReads(t *testing.T) {
	t.Parallel()
	api := startFake(t, nil)
	p, _ := startProxy(t, api.url)
	client := use(t, issue(t, p))
	for _, path := range []string{
		"/api", "/api/", "/api/v1", "/apis", "/apis/", "/apis/apps", "/apis/apps/v1", "/openapi/v2", "/openapi/v3", "/openapi/v3/apis/apps/v1", "/version", "/version/",
		"/api/v1/secrets", "/api/v1/namespaces", "/api/v1/namespaces/b", "/api/v1/namespaces/b/status", "/api/v1/namespaces/b/secrets/c",
		"/api/v1/namespaces/b/pods/c/log", "/api/v1/nodes/c", "/apis/unknown.example.com/v1/things", "/apis/apps/v1/namespaces/b/deployments/c/scale",
		"/api/v1/namespaces/b/configmaps?watch=true&resourceVersion=5&fieldSelector=metadata.name%3Dc",
		"/apis/rbac.authorization.k8s.io/v1/clusterroles/system:node",
	} {
		t.Run("hooks 43: what the ServiceAccount may read, the run may read", func(t *testing.T) {
			code, _ := client.do(t, "GET", path, "")
			assert.Equal(t, http.StatusOK, code, path)
		})
	}
	t.Run("hooks 43: who it is and what it may do", func(t *testing.T) {
		for _, path := range []string{
			"/apis/authorization.k8s.io/v1/selfsubjectaccessreviews", "/apis/authorization.k8s.io/v1/selfsubjectrulesreviews", "/apis/authentication.k8s.io/v1/selfsubjectreviews",
		} {
			api.requests()
			code, _ := client.do(t, "POST", path, `{"spec":{}}`)
			assert.Equal(t, http.StatusOK, code, path)
			assert.Equal(t, `{"spec":{}}`, api.requests()[0].Body, "no owner")
		}
	})
	t.Run("hooks 43: each path reaches the API server in one form", func(t *testing.T) {
		api.requests()
		client.do(t, "GET", "/apis/rbac.authorization.k8s.io/v1/clusterroles/system%3Anode/?labelSelector=a%3Db", "")
		assert.Equal(t, "/apis/rbac.authorization.k8s.io/v1/clusterroles/system:node?labelSelector=a%3Db", api.requests()[0].RequestURI)
	})
}

func TestDeclaredKinds(t *testing.T) {
	t.Parallel()
	api := startFake(t, existing)
	p, _ := startProxy(t, api.url)
	client := use(t, issue(t, p, configMaps, deployments))
	const merge = "application/merge-patch+json"
	for _, row := range []struct {
		reason, method, path, body, kind string
		code                             int
	}{
		{"a kind is declared", "POST", "/api/v1/namespaces/a/configmaps", `{"metadata":{"name":"b"}}`, "", 200},
		{"in all namespaces", "POST", "/api/v1/namespaces/b/configmaps", `{"metadata":{"name":"b"}}`, "", 200},
		{"with its subresources", "PATCH", "/apis/apps/v1/namespaces/a/deployments/b/scale", `{"spec":{"replicas":2}}`, merge, 200},
		{"deletion, too", "DELETE", "/apis/apps/v1/namespaces/a/deployments/b", "", "", 200},
		{"of many", "DELETE", "/apis/apps/v1/namespaces/a/deployments?labelSelector=a", "", "", 200},
		{"the owner needs no declaration", "PATCH", "/apis/example.com/v1/namespaces/a/cats/tom", `{"metadata":{"labels":{"a":"b"}}}`, merge, 200},
		{"nor its status", "PATCH", "/apis/example.com/v1/namespaces/a/cats/tom/status", `{"status":{"a":"b"}}`, merge, 200},
		{"nor if it is replaced", "PUT", "/apis/example.com/v1/namespaces/a/cats/tom/status", `{"metadata":{"name":"tom"}}`, "", 200},
		{"another kind isn't", "POST", "/api/v1/namespaces/a/pods", `{"metadata":{"name":"b"}}`, "", 403},
		{"nor its subresources", "POST", "/api/v1/namespaces/a/pods/b/eviction", `{}`, "", 403},
		{"nor many of it", "DELETE", "/api/v1/namespaces/a/pods", "", "", 403},
		{"nor a patch", "PATCH", "/api/v1/namespaces/a/pods/b", "{}", merge, 403},
		{"another object of the kind of the owner", "PATCH", "/apis/example.com/v1/namespaces/a/cats/kit", "{}", merge, 403},
		{"one with its name elsewhere", "PATCH", "/apis/example.com/v1/namespaces/b/cats/tom", "{}", merge, 403},
		{"deleting the owner", "DELETE", "/apis/example.com/v1/namespaces/a/cats/tom", "", "", 403},
		{"another subresource of the owner", "PATCH", "/apis/example.com/v1/namespaces/a/cats/tom/scale", "{}", merge, 403},
		{"a resource that isn't served", "POST", "/apis/example.com/v1/namespaces/a/dogs", `{}`, "", 404},
		{"one of another version", "POST", "/apis/apps/v1beta1/namespaces/a/deployments", `{}`, "", 404},
		{"a subresource in the place of a resource", "POST", "/apis/apps/v1/namespaces/a/deployments%2Fscale", `{}`, "", 400},
	} {
		t.Run("hooks 44: "+row.reason, func(t *testing.T) {
			api.requests()
			headers := []string{}
			if row.kind != "" {
				headers = append(headers, "Content-Type", row.kind)
			}
			code, body := client.do(t, row.method, row.path, row.body, headers...)
			assert.Equal(t, row.code, code, body)
			assert.Equal(t, row.code == 200, len(api.requests()) > 0)
		})
	}
	t.Run("hooks 44: the message says how to declare it", func(t *testing.T) {
		assert.Equal(t, "hooks proxy: deletecollection pods: a run of Cat.example.com a/tom may not write objects of the kind Pod: add {apiVersion: v1, kind: Pod} to manages in watches.yaml",
			client.refused(t, http.StatusForbidden, "DELETE", "/api/v1/namespaces/a/pods", ""))
		assert.Equal(t, "hooks proxy: patch cats: a run of Cat.example.com a/tom may not write objects of the kind Cat.example.com: add {apiVersion: example.com/v1, kind: Cat} to manages in watches.yaml",
			client.refused(t, http.StatusForbidden, "PATCH", "/apis/example.com/v1/namespaces/a/cats/kit", "{}", "Content-Type", merge))
		assert.Equal(t, "hooks proxy: dogs.example.com: the API server doesn't serve this resource in version v1: install its CustomResourceDefinition",
			client.refused(t, http.StatusNotFound, "POST", "/apis/example.com/v1/namespaces/a/dogs", "{}"))
	})
	t.Run("hooks 44: no write goes on if its kind can't be found out", func(t *testing.T) {
		other, _ := startProxy(t, "http://127.0.0.1:1")
		got := use(t, issue(t, other, configMaps)).refused(t, http.StatusServiceUnavailable, "POST", "/api/v1/namespaces/a/configmaps", `{}`)
		assert.Contains(t, got, "configmaps: can't discover its kind: ")
	})
}
