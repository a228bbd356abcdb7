package envtest

import (
	"context"
	"fmt"
	"path/filepath"
	"strings"
	"testing"
	"time"

	rbacv1 "k8s.io/api/rbac/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/dynamic"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/clientcmd"
)

var (
	roles        = rbacv1.SchemeGroupVersion.WithResource("roles")
	roleBindings = rbacv1.SchemeGroupVersion.WithResource("rolebindings")
	clusterRoles = rbacv1.SchemeGroupVersion.WithResource("clusterroles")
	clusterBinds = rbacv1.SchemeGroupVersion.WithResource("clusterrolebindings")
	reviews      = schema.GroupVersionResource{Group: "authorization.k8s.io", Version: "v1", Resource: "subjectaccessreviews"}
)

// User is one identity in the cluster. Config logs in as the administrator and impersonates the user in each request,
// so RBAC and the audit log see Name.
type User struct {
	// Name is the full user name, which no other test uses.
	Name string
	// Config is a client configuration for this user, without client-side rate limits.
	Config *rest.Config
}

// User creates another user with exactly the granted rights, and returns when the rights are in effect. Like every
// authenticated user, the new user may also read the discovery documents. name is a word such as "operator"; each user
// of a test needs a different name.
func (e *Env) User(t testing.TB, name string, grants ...Grant) *User {
	t.Helper()
	namespaced, cluster, err := rules(grants)
	if err != nil {
		t.Fatalf("envtest: user %s: %v", name, err)
	}
	user := &User{Name: e.Namespace + ":" + name, Config: rest.CopyConfig(e.Admin)}
	user.Config.Impersonate = rest.ImpersonationConfig{UserName: user.Name}
	ctx, cancel := context.WithTimeout(t.Context(), stepTimeout)
	defer cancel()
	if len(namespaced) > 0 {
		role := &rbacv1.Role{ObjectMeta: metav1.ObjectMeta{Name: user.Name}, Rules: namespaced}
		binding := &rbacv1.RoleBinding{ObjectMeta: role.ObjectMeta, Subjects: user.subjects(), RoleRef: user.role("Role")}
		e.grant(ctx, t, e.plane.client.Resource(roles).Namespace(e.Namespace), "Role", role)
		e.grant(ctx, t, e.plane.client.Resource(roleBindings).Namespace(e.Namespace), "RoleBinding", binding)
	}
	if len(cluster) > 0 {
		role := &rbacv1.ClusterRole{ObjectMeta: metav1.ObjectMeta{Name: user.Name}, Rules: cluster}
		binding := &rbacv1.ClusterRoleBinding{ObjectMeta: role.ObjectMeta, Subjects: user.subjects(), RoleRef: user.role("ClusterRole")}
		e.grant(ctx, t, e.plane.client.Resource(clusterRoles), "ClusterRole", role)
		e.grant(ctx, t, e.plane.client.Resource(clusterBinds), "ClusterRoleBinding", binding)
	}
	if err := e.awaitRights(ctx, user, namespaced, cluster); err != nil {
		t.Fatalf("envtest: user %s: %v", name, err)
	}
	return user
}

func (u *User) subjects() []rbacv1.Subject {
	return []rbacv1.Subject{{Kind: rbacv1.UserKind, APIGroup: rbacv1.GroupName, Name: u.Name}}
}

func (u *User) role(kind string) rbacv1.RoleRef {
	return rbacv1.RoleRef{APIGroup: rbacv1.GroupName, Kind: kind, Name: u.Name}
}

// grant creates an RBAC object, and deletes it when the test ends.
func (e *Env) grant(ctx context.Context, t testing.TB, client dynamic.ResourceInterface, kind string, typed metav1.Object) {
	t.Helper()
	content, err := runtime.DefaultUnstructuredConverter.ToUnstructured(typed)
	if err != nil {
		t.Fatalf("envtest: %s %s: %v", kind, typed.GetName(), err)
	}
	u := &unstructured.Unstructured{Object: content}
	u.SetGroupVersionKind(rbacv1.SchemeGroupVersion.WithKind(kind))
	_, err = client.Create(ctx, u, metav1.CreateOptions{})
	if apierrors.IsAlreadyExists(err) {
		t.Fatalf("envtest: the test has a user %s already", typed.GetName())
	}
	if err != nil {
		t.Fatalf("envtest: %s %s: %v", kind, typed.GetName(), err)
	}
	e.cleanup(t, func(ctx context.Context) error {
		err := client.Delete(ctx, u.GetName(), metav1.DeleteOptions{})
		if err != nil && !apierrors.IsNotFound(err) {
			return fmt.Errorf("%s %s: %w", kind, u.GetName(), err)
		}
		return nil
	})
}

// awaitRights asks the API server until each rule is in effect. The API server reads new rules by a watch, so this
// takes a moment.
func (e *Env) awaitRights(ctx context.Context, user *User, namespaced, cluster []rbacv1.PolicyRule) error {
	var questions []map[string]any
	for _, rule := range namespaced {
		questions = append(questions, question(rule, e.Namespace))
	}
	for _, rule := range cluster {
		questions = append(questions, question(rule, ""))
	}
	for _, ask := range questions {
		if ask == nil {
			continue
		}
		ask["user"], ask["groups"] = user.Name, []any{"system:authenticated"}
		err := until(ctx, time.Millisecond, func() (bool, error) { return e.plane.allowed(ctx, ask) })
		if err != nil {
			return fmt.Errorf("its rights don't take effect: %v: %w", ask, err)
		}
	}
	return nil
}

// question returns the specification of an access review for the first request that a rule allows, or nil if the rule
// allows nothing.
func question(rule rbacv1.PolicyRule, namespace string) map[string]any {
	if len(rule.Verbs) == 0 {
		return nil
	}
	if len(rule.NonResourceURLs) > 0 {
		path := strings.TrimSuffix(rule.NonResourceURLs[0], "*")
		return map[string]any{"nonResourceAttributes": map[string]any{"verb": rule.Verbs[0], "path": path}}
	}
	if len(rule.APIGroups) == 0 || len(rule.Resources) == 0 {
		return nil
	}
	resource, subresource, _ := strings.Cut(rule.Resources[0], "/")
	attributes := map[string]any{
		"verb": rule.Verbs[0], "group": rule.APIGroups[0], "resource": resource, "subresource": subresource,
	}
	if namespace != "" {
		attributes["namespace"] = namespace
	}
	if len(rule.ResourceNames) > 0 {
		attributes["name"] = rule.ResourceNames[0]
	}
	return map[string]any{"resourceAttributes": attributes}
}

func (p *plane) allowed(ctx context.Context, ask map[string]any) (bool, error) {
	review := object("authorization.k8s.io/v1", "SubjectAccessReview", "")
	review.Object["spec"] = ask
	answer, err := p.client.Resource(reviews).Create(ctx, review, metav1.CreateOptions{})
	if err != nil {
		return false, err
	}
	allowed, _, err := unstructured.NestedBool(answer.Object, "status", "allowed")
	return allowed, err
}

// Kubeconfig writes a kubeconfig file with which a program runs as this user, and returns the file's path. The test's
// namespace is the default namespace. Only the owner can read the file, which is removed at the end of the test. With
// this file every client-go program logs in as the administrator and impersonates the user in each request (`as` in the
// file).
func (e *Env) Kubeconfig(t testing.TB, user *User) string {
	t.Helper()
	config, err := clientcmd.LoadFromFile(e.plane.cluster.Kubeconfig())
	if err != nil {
		t.Fatalf("envtest: kubeconfig: %v", err)
	}
	current, ok := config.Contexts[config.CurrentContext]
	if !ok || config.AuthInfos[current.AuthInfo] == nil {
		t.Fatalf("envtest: kubeconfig %s: the current context %q has no user", e.plane.cluster.Kubeconfig(), config.CurrentContext)
	}
	current.Namespace = e.Namespace
	config.AuthInfos[current.AuthInfo].Impersonate = user.Name
	path := filepath.Join(t.TempDir(), "kubeconfig")
	if err := clientcmd.WriteToFile(*config, path); err != nil {
		t.Fatalf("envtest: kubeconfig: %v", err)
	}
	return path
}
