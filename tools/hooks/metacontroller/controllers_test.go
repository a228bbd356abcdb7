package metacontroller_test

import (
	"fmt"
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"go.uber.org/goleak"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/operkit/operkit/deploy"
	"github.com/operkit/operkit/operator"
	"github.com/operkit/operkit/reconcile/watch"
	"github.com/operkit/operkit/tools/hooks/metacontroller"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

func ExampleControllers() {
	var controllers metacontroller.Controllers
	if err := controllers.ReadFiles("testdata/controllers"); err != nil {
		panic(err)
	}
	op := operator.New("cats")
	op.DriveKinds(controllers.Selector(), controllers.Reconciler, "patch")
	op.DriveKinds(metacontroller.Definitions(), controllers.Definition) // those that are objects of the cluster, too
	// op.Main()

	fmt.Println(controllers.Names())
	catSets := schema.GroupVersionKind{Group: "ctl.example.dev", Version: "v1", Kind: "CatSet"}
	fmt.Println(controllers.Selector().Where(deploy.ServedKind{Kind: catSets, Resource: "catsets"}))
	// Output:
	// [catsets]
	// true
}

const composite = `
apiVersion: metacontroller.k8s.io/v1alpha1
kind: CompositeController
metadata: {name: NAME}
spec:
  parentResource: {apiVersion: ctl.example.dev/v1, resource: catsets}
  hooks: {sync: {webhook: {url: http://localhost/sync}}}
`

func TestReadFiles(t *testing.T) {
	t.Parallel()
	write := func(text string) string {
		file := filepath.Join(t.TempDir(), "a.yaml")
		require.NoError(t, os.WriteFile(file, []byte(text), 0o600))
		return file
	}
	for reason, row := range map[string]struct{ text, want string }{
		"nothing":         {"", "no CompositeController or DecoratorController of metacontroller.k8s.io/v1alpha1"},
		"other objects":   {"apiVersion: v1\nkind: ConfigMap\n", "no CompositeController"},
		"two of one name": {composite + "---" + composite[:len(composite)-1] + "\n", "defined twice"},
	} {
		t.Run("hooks 7: "+reason, func(t *testing.T) {
			t.Parallel()
			var none metacontroller.Controllers
			assert.ErrorContains(t, none.ReadFiles(write(row.text)), row.want)
			assert.Empty(t, none.Names())
		})
	}
	t.Run("hooks 7: two controllers of one kind", func(t *testing.T) {
		t.Parallel()
		var none metacontroller.Controllers
		assert.EqualError(t, none.ReadFiles("testdata/controllers", "testdata/other.yaml"), "CompositeController others: catsets of ctl.example.dev/v1 has a controller, catsets: remove one of the definitions, or give both a labelSelector")
	})
	var none metacontroller.Controllers
	assert.False(t, none.Selector().Where(deploy.ServedKind{}))
	assert.Empty(t, none.Names())
	_, err := none.Reconciler(t.Context(), watch.Env{}, deploy.ServedKind{})
	assert.Error(t, err)
}
