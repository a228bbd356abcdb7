package setupcommand_test

import (
	"context"
	"errors"
	"fmt"
	"os"

	"github.com/operkit/operkit/vcs/setupcommand"
	"github.com/spf13/cobra"
)

func ExampleNew() {
	root := &cobra.Command{Use: "guestbook-operator", SilenceErrors: true, SilenceUsage: true}
	root.AddCommand(setupcommand.New())
	root.SetArgs([]string{"setup-vcs", "--source", "/no/repository", "-te", `\d+\.\d+`})
	if err := root.Execute(); err != nil {
		fmt.Println(err)
		fmt.Println("exit code", setupcommand.ExitCode(err))
	}
	// Output:
	// open /no/repository: there is no such folder
	// exit code 2
}

func ExampleExecute() {
	code := setupcommand.Execute(context.Background(), []string{"--source", "/no/repository"}, os.Stdout, os.Stdout)
	fmt.Println("exit code", code)
	// Output:
	// setup-vcs: open /no/repository: there is no such folder
	// exit code 2
}

func ExampleExitCode() {
	fmt.Println(setupcommand.ExitCode(nil), setupcommand.ExitCode(errors.New("of somebody else")))
	// Output: 0 1
}
