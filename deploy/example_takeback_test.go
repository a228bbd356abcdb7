package deploy_test

import (
	"context"
	"fmt"
	"log"

	"github.com/operkit/operkit/deploy"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
)

func ExampleManager_TakeBack() {
	memory := newMemory()
	m := must(deploy.NewManager(memory, deploy.Conflicts(deploy.Keep)))
	objects := []*unstructured.Unstructured{newConfigMap("web", "hello")}
	show := func() {
		results, err := m.Apply(context.Background(), objects)
		fmt.Println(results[0].Action, results[0].Object.Object["data"], err)
		for _, field := range results[0].Kept {
			fmt.Println(field.Left())
		}
	}
	show()
	somebodyEdits(memory.Port(), "go away")
	show()
	if _, err := m.TakeBack(context.Background(), deploy.RefOf(objects[0]), []string{"data.greeting"}); err != nil {
		log.Fatal(err)
	}
	show()
	// Output:
	// created map[greeting:hello] <nil>
	// unchanged map[greeting:go away] <nil>
	// data.greeting: left to kubectl
	// configured map[greeting:hello] <nil>
}
