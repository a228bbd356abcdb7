package proxy_test

import (
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	rbacv1 "k8s.io/api/rbac/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	utilnet "k8s.io/apimachinery/pkg/util/net"
	"k8s.io/client-go/dynamic"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/clientcmd"

	"github.com/operkit/operkit/tools/envtest"
	"github.com/operkit/operkit/tools/hooks/internal/proxy"
)

var (
	accounts       = schema.GroupVersionResource{Version: "v1", Resource: "serviceaccounts"}
	configMapsOfV1 = schema.GroupVersionResource{Version: "v1", Resource: "configmaps"}
	secretsOfV1    = schema.GroupVersionResource{Version: "v1", Resource: "secrets"}
	catsOfV1       = schema.GroupVersionResource{Group: "proxy.operkit.dev", Version: "v1", Resource: "cats"}
	farmsOfV1      = schema.GroupVersionResource{Group: "proxy.operkit.dev", Version: "v1", Resource: "farms"}
	reviewsOfV1    = schema.GroupVersionResource{Group: "authorization.k8s.io", Version: "v1", Resource: "subjectaccessreviews"}
)

// plane is a real API server with two ServiceAccounts: that of the operator, who may do nothing but impersonate the
// other one, and that of the runs.
type plane struct {
	*envtest.Env
	t     *testing.T
	admin *dynamic.DynamicClient
	proxy *proxy.Proxy
}

// startPlane starts the proxy of a real API server, until the test ends. The rights are those of the runs.
func startPlane(t *testing.T, rights ...rbacv1.PolicyRule) *plane {
	t.Helper()
	p := &plane{Env: envtest.Start(t, envtest.CRDs("testdata/crds")), t: t}
	p.admin = clientOf(t, p.Admin)
	for _, name := range []string{"operator", "runner"} {
		p.create(accounts, object("v1", "ServiceAccount", name, nil))
	}
	p.grant("operator", rbacv1.PolicyRule{APIGroups: []string{""}, Resources: []string{"serviceaccounts"}, ResourceNames: []string{"runner"}, Verbs: []string{"impersonate"}})
	p.grant("runner", rights...)
	request := object("authentication.k8s.io/v1", "TokenRequest", "operator", map[string]any{"spec": map[string]any{}})
	got, err := p.admin.Resource(accounts).Namespace(p.Namespace).Create(t.Context(), request, metav1.CreateOptions{}, "token")
	require.NoError(t, err)
	operator := rest.AnonymousClientConfig(p.Admin)
	operator.BearerToken, _, _ = unstructured.NestedString(got.Object, "status", "token")
	p.proxy, err = proxy.New(t.Context(), proxy.Config{API: operator})
	require.NoError(t, err)
	t.Cleanup(p.proxy.Close)
	return p
}

func clientOf(t *testing.T, config *rest.Config) *dynamic.DynamicClient {
	t.Helper()
	config = rest.CopyConfig(config)
	config.QPS = -1
	client, err := dynamic.NewForConfig(config)
	require.NoError(t, err)
	return client
}

// object returns an object with other fields.
func object(apiVersion, kind, name string, fields map[string]any) *unstructured.Unstructured {
	o := &unstructured.Unstructured{Object: map[string]any{}}
	for key, value := range fields {
		o.Object[key] = value
	}
	o.SetAPIVersion(apiVersion)
	o.SetKind(kind)
	if name != "" {
		o.SetName(name)
	}
	return o
}

// create creates an object in the namespace of the test, as the administrator.
func (p *plane) create(at schema.GroupVersionResource, o *unstructured.Unstructured) *unstructured.Unstructured {
	p.t.Helper()
	created, err := p.admin.Resource(at).Namespace(p.Namespace).Create(p.t.Context(), o, metav1.CreateOptions{})
	require.NoError(p.t, err)
	return created
}

// grant gives a ServiceAccount rights in the namespace, and waits until it has them.
func (p *plane) grant(account string, rules ...rbacv1.PolicyRule) {
	p.t.Helper()
	put := func(resource string, typed any) {
		content, err := runtime.DefaultUnstructuredConverter.ToUnstructured(typed)
		require.NoError(p.t, err)
		p.create(rbacv1.SchemeGroupVersion.WithResource(resource), &unstructured.Unstructured{Object: content})
	}
	put("roles", &rbacv1.Role{
		TypeMeta: metav1.TypeMeta{APIVersion: "rbac.authorization.k8s.io/v1", Kind: "Role"}, ObjectMeta: metav1.ObjectMeta{Name: account}, Rules: rules,
	})
	put("rolebindings", &rbacv1.RoleBinding{
		TypeMeta: metav1.TypeMeta{APIVersion: "rbac.authorization.k8s.io/v1", Kind: "RoleBinding"}, ObjectMeta: metav1.ObjectMeta{Name: account},
		Subjects: []rbacv1.Subject{{Kind: "ServiceAccount", Name: account, Namespace: p.Namespace}},
		RoleRef:  rbacv1.RoleRef{APIGroup: "rbac.authorization.k8s.io", Kind: "Role", Name: account},
	})
	p.awaitRights(account, p.Namespace, rules)
}

// awaitRights waits until a ServiceAccount has the first right of each rule in a namespace, empty for all.
func (p *plane) awaitRights(account, namespace string, rules []rbacv1.PolicyRule) {
	p.t.Helper()
	for _, rule := range rules {
		resource, subresource, _ := strings.Cut(rule.Resources[0], "/")
		attributes := map[string]any{"namespace": namespace, "verb": rule.Verbs[0], "group": rule.APIGroups[0], "resource": resource, "subresource": subresource}
		if len(rule.ResourceNames) > 0 {
			attributes["name"] = rule.ResourceNames[0]
		}
		review := object("authorization.k8s.io/v1", "SubjectAccessReview", "", map[string]any{"spec": map[string]any{
			"user": "system:serviceaccount:" + p.Namespace + ":" + account, "resourceAttributes": attributes,
		}})
		require.Eventually(p.t, func() bool {
			got, err := p.admin.Resource(reviewsOfV1).Create(p.t.Context(), review, metav1.CreateOptions{})
			if err != nil {
				return false
			}
			allowed, _, _ := unstructured.NestedBool(got.Object, "status", "allowed")
			return allowed
		}, time.Minute, 5*time.Millisecond)
	}
}

// cat creates a Cat.
func (p *plane) cat(name string) *unstructured.Unstructured {
	p.t.Helper()
	return p.create(catsOfV1, object("proxy.operkit.dev/v1", "Cat", name, map[string]any{"spec": map[string]any{}}))
}

// issue gives a run access, in the name of an owner.
func (p *plane) issue(owner *unstructured.Unstructured, kinds ...schema.GroupKind) *proxy.Access {
	p.t.Helper()
	access, err := p.proxy.Issue(proxy.Grant{Owner: owner, Kinds: kinds, ServiceAccount: types.NamespacedName{Namespace: p.Namespace, Name: "runner"}})
	require.NoError(p.t, err)
	p.t.Cleanup(access.End)
	return access
}

// clientOfRun returns a client with the kubeconfig of a run.
func clientOfRun(t *testing.T, access *proxy.Access) *dynamic.DynamicClient {
	t.Helper()
	config, err := clientcmd.RESTConfigFromKubeConfig(access.Kubeconfig())
	require.NoError(t, err)
	client := clientOf(t, config)
	t.Cleanup(func() { closeIdle(t, config) })
	return client
}

// rule is a rule for resources of one group.
func rule(group, resource string, verbs ...string) rbacv1.PolicyRule {
	return rbacv1.PolicyRule{APIGroups: []string{group}, Resources: []string{resource}, Verbs: verbs}
}

// closeIdle closes the connections of a configuration that nobody uses.
func closeIdle(t *testing.T, config *rest.Config) {
	t.Helper()
	transport, err := rest.TransportFor(config)
	require.NoError(t, err)
	utilnet.CloseIdleConnectionsFor(transport)
}
