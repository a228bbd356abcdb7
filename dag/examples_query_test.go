package dag_test

import "fmt"

func ExampleGraph_Remove() {
	g := site()
	g.Remove("api")
	g.Remove("disk") // isn't there
	fmt.Println(g)
	// Output: Graph({web:[cache],db:[],cache:[]})
}

func ExampleGraph_RemoveDependency() {
	g := site()
	g.RemoveDependency("web", "api")
	fmt.Println(g)
	// Output: Graph({web:[cache],api:[db],db:[],cache:[]})
}

func ExampleGraph_Reaches() {
	g := site()
	fmt.Println(g.Reaches("web", "db"), g.Reaches("db", "web"), g.Reaches("db", "db"))
	// Output: true false true
}

func ExampleGraph_Dependencies() {
	fmt.Println(site().Dependencies("web"))
	// Output: [api cache]
}

func ExampleGraph_Dependents() {
	fmt.Println(site().Dependents("db"))
	// Output: [api]
}

func ExampleGraph_Descendants() {
	fmt.Println(site().Descendants("web"))
	// Output: [api cache db]
}

func ExampleGraph_Ancestors() {
	fmt.Println(site().Ancestors("db"))
	// Output: [api web]
}

func ExampleGraph_Layers() {
	for _, layer := range site().Layers() {
		fmt.Println(layer)
	}
	// Output:
	// [cache db]
	// [api]
	// [web]
}

func ExampleGraph_Nodes() {
	g := site()
	g.Disable("cache")
	for _, node := range g.Nodes() {
		fmt.Println(node.Name, node.Layer, node.Disabled, node.Dependencies)
	}
	// Output:
	// web 2 false [{api false} {cache false}]
	// api 1 false [{db false}]
	// db 0 false []
	// cache 0 true []
}
