package ansible_test

import (
	"context"
	"fmt"
	"os"
	"path/filepath"

	"github.com/operkit/operkit/deploy"
	"github.com/operkit/operkit/reconcile/watch"
	"github.com/operkit/operkit/tools/hooks/ansible"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/rest"
)

var (
	caches = deploy.ServedKind{Kind: schema.GroupVersionKind{Group: "example.com", Version: "v1", Kind: "Cache"}}
	ponds  = deploy.ServedKind{Kind: schema.GroupVersionKind{Group: "example.com", Version: "v1", Kind: "Pond"}}
)

// In an operator: op.DriveKinds(playbooks.Selector(), playbooks.Reconciler, "patch").
func ExamplePlaybooks() {
	var playbooks ansible.Playbooks
	if err := playbooks.ReadFile(filepath.Join("testdata", "watches.yaml")); err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println(playbooks.Names())
	selects := playbooks.Selector().Where
	fmt.Println(selects(caches), selects(ponds))
	_, err := playbooks.Reconciler(context.Background(), watch.Env{}, caches)
	fmt.Println(err)
	// Output:
	// [Cache.example.com]
	// true false
	// playbooks: not started: call Start first
}

// All mistakes of a file are reported at once.
func ExamplePlaybooks_ReadFile() {
	var playbooks ansible.Playbooks
	err := playbooks.ReadFile(filepath.Join("testdata", "wrong.yaml"))
	fmt.Println(err)
	// Output:
	// testdata/wrong.yaml: entry 1 (Cache): playbok: Invalid value: "cache.yml": unknown field: use one of blacklist, finalizer, group, kind, manageStatus, manages, markUnsafe, maxRunnerArtifacts, playbook, reconcilePeriod, role, selector, serviceAccount, snakeCaseParameters, vars, version, watchAnnotationsChanges, watchClusterScopedResources, watchDependentResources
	// testdata/wrong.yaml: entry 1 (Cache): playbook: Required value: set playbook or role
}

// Start says what is missing.
func ExamplePlaybooks_Start() {
	var playbooks ansible.Playbooks
	err := playbooks.Start(context.Background(), ansible.Config{API: &rest.Config{Host: "https://localhost"}, Folder: os.TempDir(), Verbosity: 9})
	fmt.Println(err)
	// Output:
	// playbooks: verbosity 9: use one from 0 to 7
}
