package envtest_test

import (
	"flag"
	"fmt"
	"sync"
	"testing"

	rbacv1 "k8s.io/api/rbac/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/dynamic"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/clientcmd"

	"github.com/operkit/operkit/tools/envtest"
)

// run runs a test as the go command does, once and quietly, and reports whether it passed.
func run(test func(t *testing.T)) bool {
	for name, value := range map[string]string{"test.v": "false", "test.count": "1"} {
		setting := flag.Lookup(name).Value
		before := setting.String()
		defer func() { _ = setting.Set(before) }()
		_ = setting.Set(value)
	}
	var once sync.Once // -cpu 1,2,4 has the tests run for each
	again := func(t *testing.T) { once.Do(func() { test(t) }) }
	return testing.RunTests(func(_, _ string) (bool, error) { return true, nil }, []testing.InternalTest{{Name: "TestOperator", F: again}})
}

// newClient is a client of client-go.
func newClient(t *testing.T, config *rest.Config) dynamic.Interface {
	t.Helper()
	made, err := dynamic.NewForConfig(config)
	if err != nil {
		t.Fatal(err)
	}
	return made
}

// A test has a namespace and a user, and counts what that asked for.
func ExampleStart() {
	passed := run(func(t *testing.T) {
		env := envtest.Start(t)
		maps := newClient(t, env.Config).Resource(schema.GroupVersionResource{Version: "v1", Resource: "configmaps"}).Namespace(env.Namespace)
		mark := env.Mark(t)
		if _, err := maps.Create(t.Context(), configMap("settings"), metav1.CreateOptions{}); err != nil {
			t.Fatal(err)
		}
		var calls envtest.Calls = env.CallsSince(t, mark)
		everybodys := env.NamespaceCalls(t, mark) // those of Kubernetes' own controllers, too
		fmt.Println(calls.Count(), len(env.Calls(t).Writes()), len(everybodys.Writes()) >= 1)
		env.AwaitQuiet(t) // until it has nothing to do any more
	})
	fmt.Println(passed)
	// Output:
	// map[create configmaps:1] 1 true
	// true
}

// A program under test is a user with the rights that it ships with.
func ExampleEnv_User() {
	passed := run(func(t *testing.T) {
		env := envtest.Start(t, envtest.Rights(envtest.EverythingInNamespace()), envtest.CRDs("testdata/crds"))
		operator := env.User(t, "operator", envtest.RolesIn("testdata/roles"))
		reader := env.User(t, "reader",
			envtest.InNamespace(rbacv1.PolicyRule{Verbs: []string{"get"}, APIGroups: []string{""}, Resources: []string{"configmaps"}}),
			envtest.ClusterWide(rbacv1.PolicyRule{Verbs: []string{"list"}, APIGroups: []string{""}, Resources: []string{"namespaces"}}))
		env.InstallCRDs(t, "testdata/crds") // once more costs nothing

		config, err := clientcmd.BuildConfigFromFlags("", env.Kubeconfig(t, reader)) // for a child process
		if err != nil {
			t.Fatal(err)
		}
		for _, as := range []*rest.Config{operator.Config, config} {
			maps := newClient(t, as).Resource(schema.GroupVersionResource{Version: "v1", Resource: "configmaps"}).Namespace(env.Namespace)
			_, err := maps.Create(t.Context(), configMap("settings"), metav1.CreateOptions{})
			fmt.Println("forbidden:", apierrors.IsForbidden(err))
		}
	})
	fmt.Println(passed)
	// Output:
	// forbidden: false
	// forbidden: true
	// true
}

// Outages are for a control plane of the test's own.
func ExampleOwnCluster() {
	passed := run(func(t *testing.T) {
		env := envtest.Start(t, envtest.OwnCluster("--components=etcd,apiserver"))
		maps := newClient(t, env.Config).Resource(schema.GroupVersionResource{Version: "v1", Resource: "configmaps"}).Namespace(env.Namespace)
		answers := func() bool {
			_, err := maps.Get(t.Context(), "none", metav1.GetOptions{})
			return apierrors.IsNotFound(err)
		}
		env.StopAPIServer(t)
		fmt.Println("answers:", answers())
		env.StartAPIServer(t)
		fmt.Println("answers:", answers())
		env.StopEtcd(t) // the API server stays, but nothing is stored
		env.StartEtcd(t)
	})
	fmt.Println(passed)
	// Output:
	// answers: false
	// answers: true
	// true
}
