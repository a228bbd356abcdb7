package main

import (
	"context"
	"fmt"
	"os"
	"sync"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/clientcmd"

	"github.com/operkit/operkit/tools/envtest/devcluster"
)

// components are the flags for the control plane. It has no controllers, so that only the measured side works.
var components = []string{"--components=etcd,apiserver", "--audit=false"}

// server is the API server that all live rows share, with a fresh namespace for each piece of work.
type server struct {
	// config is a client configuration for the administrator, without client-side rate limits.
	config *rest.Config
	client kubernetes.Interface
	// cluster is kept because the control plane ends when nothing refers to it any more.
	cluster *devcluster.Cluster
}

// newServer returns the server for the API server in config.
func newServer(config *rest.Config) (*server, error) {
	config = rest.CopyConfig(config)
	config.QPS = -1
	config.WarningHandlerWithContext = rest.NoWarnings{}
	client, err := kubernetes.NewForConfig(config)
	if err != nil {
		return nil, err
	}
	return &server{config: config, client: client}, nil
}

// started starts a control plane when it is first called, so that none is started if no row needs it. It listens on
// loopback and ends with this process, however the process ends.
var started = sync.OnceValues(func() (*server, error) {
	cluster, err := devcluster.Start(context.Background(), devcluster.StartOptions{Progress: os.Stderr, Flags: components})
	if err != nil {
		return nil, err
	}
	config, err := clientcmd.BuildConfigFromFlags("", cluster.Kubeconfig())
	if err != nil {
		return nil, fmt.Errorf("cluster %s: kubeconfig: %w", cluster.Dir(), err)
	}
	s, err := newServer(config)
	if err != nil {
		return nil, err
	}
	s.cluster = cluster
	return s, nil
})

// namespace makes a namespace in which objects can be created without delay.
func (s *server) namespace(ctx context.Context) (string, error) {
	made, err := s.client.CoreV1().Namespaces().Create(ctx, &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{GenerateName: "shop-"}}, metav1.CreateOptions{})
	if err != nil {
		return "", err
	}
	// The first creation in a namespace waits until admission has seen the namespace. Without this pause, the first
	// side would pay for it.
	time.Sleep(settling)
	probe := &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Name: "probe"}}
	_, err = s.client.CoreV1().ConfigMaps(made.Name).Create(ctx, probe, metav1.CreateOptions{DryRun: []string{metav1.DryRunAll}})
	return made.Name, err
}

// settling is how long the API server may take to see earlier writes.
const settling = 50 * time.Millisecond
