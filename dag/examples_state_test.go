package dag_test

import "fmt"

func ExampleState_Verified() {
	fmt.Println(mixed().Verified())
	// Output: [db]
}

func ExampleState_Unverified() {
	fmt.Println(mixed().Unverified())
	// Output: [api]
}

func ExampleState_Failed() {
	fmt.Println(mixed().Failed())
	// Output: [cache]
}

func ExampleState_Unstarted() {
	fmt.Println(mixed().Unstarted())
	// Output: [web]
}

func ExampleState_All() {
	fmt.Println(mixed().All())
	// Output: [api cache db web]
}

func ExampleState_DeployCompleted() {
	fmt.Println(mixed().DeployCompleted())
	// Output: false
}

func ExampleState_VerifyCompleted() {
	fmt.Println(mixed().VerifyCompleted())
	// Output: false
}

func ExampleState_HasFailed() {
	fmt.Println(mixed().HasFailed())
	// Output: true
}
