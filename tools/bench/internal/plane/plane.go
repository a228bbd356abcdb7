package plane

import (
	"context"
	"errors"
	"fmt"
	"io"
	"path/filepath"

	"github.com/operkit/operkit/tools/envtest/audit"
	"github.com/operkit/operkit/tools/envtest/devcluster"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/clientcmd"
)

// Namespace is the namespace of all Bundles.
const Namespace = "bench"

// Plane is a control plane. Its methods may be called concurrently.
type Plane struct {
	// Admin is a client configuration for the administrator, without client-side rate limits.
	Admin *rest.Config

	cluster *devcluster.Cluster
	client  kubernetes.Interface
	log     audit.Log
	// apiServer is the process id of the API server.
	apiServer int
}

// Start runs a control plane with the definitions of a folder and the namespace. Only the components that matter to
// operators run: nodes and Pods aren't part of the measurements. If the program has to be built first, its progress is
// written to progress.
func Start(ctx context.Context, definitions string, progress io.Writer) (*Plane, error) {
	cluster, err := devcluster.Start(ctx, devcluster.StartOptions{
		Progress: progress, CRDs: []string{definitions}, Flags: []string{"--components", "etcd,apiserver,controller-manager"},
	})
	if err != nil {
		return nil, err
	}
	p, err := connect(ctx, cluster)
	if err != nil {
		return nil, errors.Join(fmt.Errorf("control plane: %w", err), cluster.Stop(context.WithoutCancel(ctx)))
	}
	return p, nil
}

func connect(ctx context.Context, cluster *devcluster.Cluster) (*Plane, error) {
	config, err := clientcmd.BuildConfigFromFlags("", cluster.Kubeconfig())
	if err != nil {
		return nil, err
	}
	config.QPS = -1
	client, err := kubernetes.NewForConfig(config)
	if err != nil {
		return nil, err
	}
	state, err := cluster.State()
	if err != nil {
		return nil, err
	}
	p := &Plane{Admin: config, cluster: cluster, client: client, log: audit.Log{Path: state.AuditLog}}
	for _, component := range state.Components {
		if component.Name == devcluster.APIServer {
			p.apiServer = component.PID
		}
	}
	namespace := &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: Namespace}}
	if _, err := client.CoreV1().Namespaces().Create(ctx, namespace, metav1.CreateOptions{}); err != nil {
		return nil, err
	}
	return p, nil
}

// APIServer is the API server's process.
func (p *Plane) APIServer() int { return p.apiServer }

// Stop takes the control plane down.
func (p *Plane) Stop(ctx context.Context) error { return p.cluster.Stop(context.WithoutCancel(ctx)) }

// file returns the path of a file in the control plane's folder, which is removed with the control plane.
func (p *Plane) file(name string) string {
	return filepath.Join(filepath.Dir(p.cluster.Kubeconfig()), "run", name)
}
