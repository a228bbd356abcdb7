package cluster

import (
	"cmp"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/clientcmd"
	"k8s.io/client-go/tools/clientcmd/api"
)

// ErrNoCluster is the error of Config if no configuration names an API server.
var ErrNoCluster = errors.New("no cluster: set KUBECONFIG, pass a kubeconfig file, or run in a Pod with a service account")

// Config returns the configuration that kubectl would use. If kubeconfig isn't empty, it comes from that file.
// Otherwise it comes from the files in KUBECONFIG, or else from ~/.kube/config, or else from the service account of the
// Pod. An empty contextName means the current context. If none of these sources exists, the error wraps ErrNoCluster
// and names the files that were tried.
func Config(kubeconfig, contextName string) (*rest.Config, error) {
	rules := clientcmd.NewDefaultClientConfigLoadingRules()
	rules.WarnIfAllMissing = false
	rules.ExplicitPath = kubeconfig
	files := cmp.Or(kubeconfig, strings.Join(rules.Precedence, ", "))
	content, err := rules.Load()
	if err != nil {
		return nil, fmt.Errorf("kubeconfig %s: %w: correct the file or name another one", files, err)
	}
	if len(content.Contexts) == 0 && len(content.Clusters) == 0 {
		return inPod(kubeconfig, contextName, files)
	}
	if err := checkContext(content, contextName); err != nil {
		return nil, fmt.Errorf("kubeconfig %s: %w", files, err)
	}
	config, err := clientcmd.NewNonInteractiveClientConfig(*content, contextName, &clientcmd.ConfigOverrides{}, rules).ClientConfig()
	if err != nil {
		return nil, fmt.Errorf("kubeconfig %s: %w", files, err)
	}
	return config, nil
}

// DefaultNamespace returns the namespace that kubectl uses by default: the namespace of the context, or else the Pod's,
// or else "default". It ignores files that can't be read. Config returns an error for them.
func DefaultNamespace(kubeconfig, contextName string) string {
	rules := clientcmd.NewDefaultClientConfigLoadingRules()
	rules.WarnIfAllMissing = false
	rules.ExplicitPath = kubeconfig
	overrides := &clientcmd.ConfigOverrides{CurrentContext: contextName}
	namespace, _, err := clientcmd.NewNonInteractiveDeferredLoadingClientConfig(rules, overrides).Namespace()
	if err != nil || namespace == "" {
		return metav1.NamespaceDefault
	}
	return namespace
}

// inPod returns the configuration of the Pod. It is called if no kubeconfig file has a cluster. If the caller named a
// file or a context, inPod returns an error.
func inPod(kubeconfig, contextName, files string) (*rest.Config, error) {
	if kubeconfig != "" {
		return nil, fmt.Errorf("kubeconfig %s: it has no cluster: %w", files, ErrNoCluster)
	}
	if contextName != "" {
		return nil, fmt.Errorf("context %q: no kubeconfig file has it, tried %s: %w", contextName, files, ErrNoCluster)
	}
	config, err := rest.InClusterConfig()
	if errors.Is(err, rest.ErrNotInCluster) {
		return nil, fmt.Errorf("%w; tried %s", ErrNoCluster, files)
	}
	if err != nil {
		return nil, fmt.Errorf("service account of the Pod: %w: mount its token, or set KUBECONFIG", err)
	}
	return config, nil
}

func checkContext(content *api.Config, name string) error {
	name = cmp.Or(name, content.CurrentContext)
	names := cmp.Or(strings.Join(slices.Sorted(maps.Keys(content.Contexts)), ", "), "none")
	if name == "" {
		return fmt.Errorf("no current context: choose one of its contexts: %s", names)
	}
	found, ok := content.Contexts[name]
	if !ok {
		return fmt.Errorf("context %q does not exist: choose one of its contexts: %s", name, names)
	}
	if _, ok := content.Clusters[found.Cluster]; !ok {
		return fmt.Errorf("context %q names the cluster %q, which does not exist: add it under clusters", name, found.Cluster)
	}
	return nil
}
