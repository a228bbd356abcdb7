package definition_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/operkit/operkit/tools/hooks/internal/definition"
)

func TestReadFiles(t *testing.T) {
	t.Parallel()
	found, err := definition.ReadFiles("testdata")
	require.NoError(t, err)
	require.Len(t, found, 2)

	c := found[0]
	assert.Equal(t, definition.Composite, c.Style)
	assert.Equal(t, "CompositeController catsets", c.Name())
	assert.Equal(t, "catsets", c.Object.GetName())
	assert.Equal(t, definition.Resource{APIVersion: "ctl.example.dev/v1", Resource: "catsets"}, c.Parents[0].Resource)
	assert.Equal(t, "RollingRecreate", c.Children[0].Update.Method)
	assert.Nil(t, c.Children[1].Update)
	assert.True(t, c.GenerateSelector)
	assert.Equal(t, []string{"spec.template"}, c.Parents[0].Revisions.FieldPaths)

	sync, finalize, customize := c.Hooks.Sync, c.Hooks.Finalize, c.Hooks.Customize
	assert.Equal(t, definition.V1, sync.Version())
	assert.False(t, sync.IsStrict(), "version v1 is loose")
	assert.Equal(t, 5*time.Second, sync.Webhook.Timeout())
	assert.True(t, finalize.IsStrict(), "version v2 is strict")
	assert.Equal(t, 10*time.Second, finalize.Webhook.Timeout())
	assert.Equal(t, "https://catsets.hooks:8443/finalize", finalize.Webhook.Address())
	assert.True(t, customize.IsStrict(), "as set")
	assert.Equal(t, "ca", c.ConnectionOf(sync.Webhook).CA.ConfigMap.Name, "that of the host")
	assert.Equal(t, "ca", c.ConnectionOf(customize.Webhook).CA.ConfigMap.Name, "in any case, with the usual port")
	assert.Nil(t, c.ConnectionOf(finalize.Webhook).CA, "a webhook with a connection has only that one")

	assert.Equal(t, definition.Decorator, found[1].Style)
	selector, err := found[1].Parents[0].Annotations.Selector()
	require.NoError(t, err)
	assert.Equal(t, "service-per-pod-label", selector.String())
}

// change returns the text of the definitions in which a line has other text.
func change(t *testing.T, old, replacement string) []byte {
	t.Helper()
	text, err := os.ReadFile("testdata/catset.yaml")
	require.NoError(t, err)
	require.Contains(t, string(text), old)
	return []byte(strings.Replace(string(text), old, replacement, 1))
}

func TestMistakesNameTheControllerAndTheField(t *testing.T) {
	t.Parallel()
	for _, row := range []struct {
		reason, old, replacement string
		want                     []string
	}{
		{"a field that is spelled wrongly", "generateSelector", "generateSelectors", []string{`CompositeController catsets: spec: unknown field "generateSelectors"`}},
		{"deep inside", "timeout: 5s", "timeOut: 5s", []string{`unknown field "hooks.sync.webhook.timeOut"`}},
		{"the same field twice", "  generateSelector: true", "  generateSelector: true\n  generateSelector: true", []string{`key "generateSelector" already set`}},
		{"no name", "  name: catsets\n", "  labels: {}\n", []string{"CompositeController: metadata.name: Required value"}},
		{"another version", "v1alpha1\nkind: Comp", "v2\nkind: Comp", []string{`unknown version "v2": use v1alpha1`}},
		{"a kind in place of a resource", "resource: catsets", "resource: CatSet", []string{`spec.parentResource.resource: Invalid value: "CatSet"`}},
		{"no resource", "\n    resource: catsets", "", []string{"spec.parentResource.resource: Required value"}},
		{"a version that is none", "ctl.example.dev/v1", "a/b/c", []string{`spec.parentResource.apiVersion: Invalid value: "a/b/c"`}},
		{"no version", "apiVersion: ctl.example.dev/v1\n    ", "", []string{"spec.parentResource.apiVersion: Required value"}},
		{"a child twice, in other versions", "resource: persistentvolumeclaims", "resource: pods", []string{`spec.childResources[1]: Duplicate value: "pods"`}},
		{"an unknown method", "method: RollingRecreate", "method: Rolling", []string{`spec.childResources[0].updateStrategy.method: Unsupported value: "Rolling"`}},
		{"checks that nobody waits for", "method: RollingRecreate", "method: InPlace", []string{"spec.childResources[0].updateStrategy.statusChecks: Forbidden"}},
		{"a check of nothing", "{type: Ready, status", "{status", []string{"conditions[0].type: Required value"}},
		{"a path with an index", "[spec.template]", "['spec.list[0]']", []string{`revisionHistory.fieldPaths[0]: Invalid value: "spec.list[0]"`}},
		{"a negative time", "resyncPeriodSeconds: 30", "resyncPeriodSeconds: -1", []string{"spec.resyncPeriodSeconds: Invalid value: -1"}},
		{"a selector that is none", "{matchLabels: {tier: gold}}", "{matchExpressions: [{key: a, operator: Has}]}", []string{"spec.parentResource.labelSelector"}},
		{"an annotation selector", "labelSelector: {matchLabels", "annotationSelector: {matchAnnotations", []string{"spec.parentResource.annotationSelector: Forbidden"}},
		{"an unknown protocol", "version: v2", "version: v3", []string{`spec.hooks.finalize.version: Unsupported value: "v3"`}},
		{"a hook without a way to call it", "sync: {webhook: {url: http://services.hooks/sync}}", "sync: {}", []string{"DecoratorController services: spec.hooks.sync.webhook: Required value"}},
		{"two ways to call a hook", "sync: {webhook: {url: http://services.hooks/sync}}", "sync: {exec: {command: [a]}, webhook: {url: http://services.hooks/sync}}", []string{"spec.hooks.sync.exec: Forbidden"}},
		{"a program without a command", "sync: {webhook: {url: http://services.hooks/sync}}", "sync: {exec: {command: []}}", []string{"spec.hooks.sync.exec.command: Required value"}},
		{"a program without a name", "sync: {webhook: {url: http://services.hooks/sync}}", "sync: {exec: {command: ['', a]}}", []string{"spec.hooks.sync.exec.command: Required value"}},
		{"a program without time", "sync: {webhook: {url: http://services.hooks/sync}}", "sync: {exec: {command: [a], timeout: 0s}}", []string{"spec.hooks.sync.exec.timeout: Invalid value"}},
		{"a program without memory", "sync: {webhook: {url: http://services.hooks/sync}}", "sync: {exec: {command: [a], memory: '0'}}", []string{"spec.hooks.sync.exec.memory: Invalid value"}},
		{"memory that is no quantity", "sync: {webhook: {url: http://services.hooks/sync}}", "sync: {exec: {command: [a], memory: much}}", []string{"DecoratorController services: spec: "}},
		{"a variable without a name, and one twice", "sync: {webhook: {url: http://services.hooks/sync}}", "sync: {exec: {command: [a], env: [{value: a}, {name: B}, {name: B}]}}", []string{"exec.env[0].name: Invalid value", "exec.env[2].name: Duplicate value"}},
		{"processes of calls", "sync: {webhook: {url: http://services.hooks/sync}}", "sync: {exec: {command: [a], processes: 2}}", []string{"spec.hooks.sync.exec.processes: Forbidden"}},
		{"too many processes", "sync: {webhook: {url: http://services.hooks/sync}}", "sync: {exec: {command: [a], keepRunning: true, processes: 65}}", []string{"spec.hooks.sync.exec.processes: Invalid value"}},
		{"no hook", "sync: {webhook: {url: http://services.hooks/sync}}", "{}", []string{"spec.hooks: Required value"}},
		{"another scheme", "http://catsets.hooks/sync", "file:///etc/passwd", []string{"spec.hooks.sync.webhook.url: Invalid value"}},
		{"a password, which isn't repeated", "http://catsets.hooks/sync", "http://me:secret@catsets.hooks/sync", []string{"me:xxxxx@catsets.hooks", "use basicAuth"}},
		{"a password in a URL that is none", "http://catsets.hooks/sync", "'http://me:secret%zz@catsets.hooks/sync'", []string{"webhook.url: Invalid value"}},
		{"a password for another scheme", "http://catsets.hooks/sync", "ftp://me:secret@catsets.hooks/sync", []string{"use basicAuth"}},
		{"a password for nobody", "http://catsets.hooks/sync", "'http://me:secret@'", []string{"webhook.url: Invalid value"}},
		{"neither URL nor Service", "url: http://catsets.hooks/sync\n        ", "", []string{"spec.hooks.sync.webhook.url: Required value"}},
		{"no time", "timeout: 5s", "timeout: 0s", []string{"spec.hooks.sync.webhook.timeout: Invalid value"}},
		{"an unknown mode", "Mode: strict", "Mode: strictly", []string{"responseUnMarshallMode: Unsupported value"}},
		{"a Service without a name", "{name: catsets, namespace: hooks,", "{name: '',", []string{"service.name: Required value", "service.namespace: Required value"}},
		{"a path without a slash", "path: /finalize", "path: finalize", []string{`spec.hooks.finalize.webhook.path: Invalid value: "finalize"`}},
		{"a port that is none", "port: 8443", "port: 84430", []string{"service.port: Invalid value: 84430"}},
		{"an unknown scheme", "protocol: https", "protocol: ftp", []string{"service.protocol: Unsupported value"}},
		{"a negative time to keep", "cacheTimeoutSeconds: 60", "cacheTimeoutSeconds: -60", []string{"spec.hooks.finalize.webhook.etag: Invalid value"}},
		{"two ways to log in", "authorization: {", "basicAuth: {secretRef: {name: a, namespace: b}}\n        authorization: {", []string{"webhook.basicAuth: Forbidden"}},
		{"a token without a key", ", key: token", "", []string{"authorization.secretRef.key: Required value"}},
		{"the wrong field for a password", "authorization: {", "authorization: {type: Basic, ", []string{"authorization.type: Invalid value", "use basicAuth"}},
		{"a type that would be two headers", "authorization: {", `authorization: {type: "A\r\nB: C", `, []string{"authorization.type: Invalid value"}},
		{"two sources of certificates", "{configMapRef: ", "{inline: nothing, configMapRef: ", []string{"caBundle.inline: Invalid value", "set one of inline"}},
		{"no source of certificates", "{configMapRef: {name: ca, namespace: hooks}}", "{}", []string{"spec.endpointConfigs[0].caBundle: Invalid value"}},
		{"an endpoint without settings", "\n    caBundle: {configMapRef: {name: ca, namespace: hooks}}", "", []string{"spec.endpointConfigs[0]: Required value"}},
		{"a URL as a host", "host: catsets.hooks", "host: http://catsets.hooks", []string{"spec.endpointConfigs[0].host: Invalid value"}},
		{"nothing to decorate", "  resources:\n  - apiVersion: apps/v1\n    resource: statefulsets\n    annotationSelector:\n      matchExpressions:\n      - {key: service-per-pod-label, operator: Exists}\n", "  resources: []\n", []string{"spec.resources: Required value"}},
		{"two of a name", "DecoratorController\nmetadata:\n  name: services\nspec:\n  resources:\n  - apiVersion: apps/v1\n    resource: statefulsets\n    annotationSelector:\n      matchExpressions:\n      - {key: service-per-pod-label, operator: Exists}\n  attachments:\n  - apiVersion: v1\n    resource: services\n    updateStrategy: {method: InPlace}", "CompositeController\nmetadata:\n  name: catsets\nspec:\n  parentResource: {apiVersion: v1, resource: pods}", []string{"CompositeController catsets: defined twice"}},
	} {
		t.Run("hooks 1: "+row.reason, func(t *testing.T) {
			t.Parallel()
			_, err := definition.Read(change(t, row.old, row.replacement))
			require.Error(t, err)
			for _, want := range row.want {
				assert.ErrorContains(t, err, want)
			}
			assert.NotContains(t, err.Error(), "me:secret")
		})
	}
	t.Run("hooks 1: all at once, with the file and the document", func(t *testing.T) {
		t.Parallel()
		file := filepath.Join(t.TempDir(), "two.yaml")
		text := strings.ReplaceAll(string(change(t, "resource: catsets", "resource: CatSet")), "resource: statefulsets", "resource: StatefulSet")
		require.NoError(t, os.WriteFile(file, []byte(text), 0o600))
		found, err := definition.ReadFiles(file, file+".missing")
		assert.Empty(t, found)
		assert.ErrorContains(t, err, "two.yaml: document 2: CompositeController catsets: ")
		assert.ErrorContains(t, err, "document 3: DecoratorController services: ")
		assert.ErrorContains(t, err, "two.yaml.missing: no such file")
	})
}

func FuzzRead(f *testing.F) {
	text, err := os.ReadFile("testdata/catset.yaml")
	require.NoError(f, err)
	f.Add(text)
	f.Add([]byte("apiVersion: metacontroller.k8s.io/v1alpha1\nkind: CompositeController\nmetadata: {name: a}\nspec: {hooks: {sync: null}}"))
	f.Fuzz(func(t *testing.T, text []byte) {
		found, err := definition.Read(text)
		for _, c := range found {
			again, err := definition.New(c.Object)
			require.NoError(t, err, "what was read without an error is read again")
			assert.Equal(t, c, again)
		}
		if err == nil {
			return
		}
		assert.NotEmpty(t, err.Error())
	})
}

// The credentials of an endpoint go to this endpoint only.
func TestEndpoints(t *testing.T) {
	t.Parallel()
	for _, row := range []struct {
		host, url string
		want      bool
	}{
		{"a", "http://a/sync", true}, {"a", "https://A/sync", true}, {"a", "https://a:443/sync", true}, {"a:443", "https://a/sync", true},
		{"a:443", "http://a/sync", false}, {"a:80", "https://a/sync", false}, {"a", "http://a:8080/sync", false},
		{"a:8080", "http://a:8080/sync", true}, {"a", "http://b/sync", false}, {"a", "http://a.b/sync", false}, {"a", "https://a:80/sync", false},
	} {
		common := definition.Common{Endpoints: []definition.Endpoint{{Host: row.host, Connection: definition.Connection{Basic: &definition.Basic{}}}}}
		got := common.ConnectionOf(&definition.Webhook{URL: row.url})
		assert.Equal(t, row.want, got.Basic != nil, "%s at %s", row.url, row.host)
	}
}

// kubectl get -o yaml writes a list.
func TestList(t *testing.T) {
	t.Parallel()
	const item = `{apiVersion: metacontroller.k8s.io/v1alpha1, kind: CompositeController, metadata: {name: a, uid: u}, status: {}, spec: {
		parentResource: {apiVersion: v1, resource: pods}, hooks: {sync: {webhook: {url: "http://a/sync"}}}}}`
	for _, head := range []string{"apiVersion: v1\nkind: List", "apiVersion: metacontroller.k8s.io/v1alpha1\nkind: CompositeControllerList"} {
		found, err := definition.Read([]byte(head + "\nitems: [" + item + "]"))
		require.NoError(t, err)
		assert.Len(t, found, 1)
		_, err = definition.Read([]byte(head + "\nitems: [" + strings.Replace(item, "resource: pods", "resource: Pod", 1) + "]"))
		assert.ErrorContains(t, err, "CompositeController a: spec.parentResource.resource")
	}
}
