package cluster

import (
	"errors"
	"fmt"
	"os"

	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/clientcmd"
)

// ErrNoCluster tells that nothing says where the API server is.
var ErrNoCluster = errors.New("no cluster: set KUBECONFIG, pass a kubeconfig file, or run in a Pod with a service account")

// Config finds the API server the way kubectl does: the file kubeconfig if it isn't empty,
// else the files that KUBECONFIG names, else ~/.kube/config, else the service account of
// the Pod. An empty contextName means the current context. Without any of them the error
// is ErrNoCluster.
func Config(kubeconfig, contextName string) (*rest.Config, error) {
	rules := clientcmd.NewDefaultClientConfigLoadingRules()
	rules.WarnIfAllMissing = false
	if kubeconfig != "" {
		if _, err := os.Stat(kubeconfig); err != nil {
			return nil, fmt.Errorf("kubeconfig: %w", err)
		}
		rules.ExplicitPath = kubeconfig
	}
	overrides := &clientcmd.ConfigOverrides{CurrentContext: contextName}
	config, err := clientcmd.NewNonInteractiveDeferredLoadingClientConfig(rules, overrides).ClientConfig()
	if clientcmd.IsEmptyConfig(err) {
		return nil, ErrNoCluster
	}
	if err != nil {
		return nil, fmt.Errorf("kubeconfig: %w", err)
	}
	return config, nil
}
