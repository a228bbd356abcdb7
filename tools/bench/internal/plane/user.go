package plane

import (
	"context"
	"fmt"
	"time"

	rbacv1 "k8s.io/api/rbac/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/clientcmd"
)

// User returns the user name of an operator in the audit log.
func User(operator string) string { return "bench:" + operator }

// Kubeconfig creates a user for an operator, who may do everything, and returns the path of a kubeconfig file for this
// user. server is the address in the file; if it is empty, the address of the API server.
func (p *Plane) Kubeconfig(ctx context.Context, operator, server string) (string, error) {
	user := User(operator)
	binding := &rbacv1.ClusterRoleBinding{
		ObjectMeta: metav1.ObjectMeta{Name: user},
		Subjects:   []rbacv1.Subject{{Kind: rbacv1.UserKind, APIGroup: rbacv1.GroupName, Name: user}},
		RoleRef:    rbacv1.RoleRef{APIGroup: rbacv1.GroupName, Kind: "ClusterRole", Name: "cluster-admin"},
	}
	if _, err := p.client.RbacV1().ClusterRoleBindings().Create(ctx, binding, metav1.CreateOptions{}); err != nil {
		return "", fmt.Errorf("rights of %s: %w", user, err)
	}
	if err := p.awaitRights(ctx, user); err != nil {
		return "", fmt.Errorf("rights of %s: %w", user, err)
	}
	config, err := clientcmd.LoadFromFile(p.cluster.Kubeconfig())
	if err != nil {
		return "", fmt.Errorf("kubeconfig: %w", err)
	}
	current := config.Contexts[config.CurrentContext]
	current.Namespace = Namespace
	config.AuthInfos[current.AuthInfo].Impersonate = user
	if server != "" {
		config.Clusters[current.Cluster].Server = server
		config.Clusters[current.Cluster].CertificateAuthorityData = nil
		config.Clusters[current.Cluster].CertificateAuthority = ""
	}
	path := p.file(operator + ".kubeconfig")
	if err := clientcmd.WriteToFile(*config, path); err != nil {
		return "", fmt.Errorf("kubeconfig: %w", err)
	}
	return path, nil
}

// awaitRights waits until the user's rights are in effect.
func (p *Plane) awaitRights(ctx context.Context, user string) error {
	config := rest.CopyConfig(p.Admin)
	config.Impersonate.UserName = user
	client, err := kubernetes.NewForConfig(config)
	if err != nil {
		return err
	}
	for {
		_, err := client.CoreV1().Namespaces().Get(ctx, Namespace, metav1.GetOptions{})
		if err == nil {
			return nil
		}
		select {
		case <-ctx.Done():
			return fmt.Errorf("%w: %w", context.Cause(ctx), err)
		case <-time.After(5 * time.Millisecond):
		}
	}
}
