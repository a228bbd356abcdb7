// Command vcs measures the module vcs next to git: setup of a repository of versions, checkouts, references. It prints
// a line for each goal and exits with 1 when one is missed.
package main

import (
	"context"
	"fmt"
	"os"

	"github.com/operkit/operkit/tools/peers/ratio"
	"github.com/operkit/operkit/vcs"
)

func main() {
	if len(os.Args) == 4 && os.Args[1] == setupCommand {
		end(setupAlone(os.Args[2], os.Args[3]))
	}
	l, err := newLab()
	if err == nil {
		err = l.check()
	}
	if err != nil {
		end(err)
	}
	ratio.Main(l.pairs(), l.counts())
}

// end ends the process.
func end(err error) {
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
	os.Exit(0)
}

// ourSetup creates a repository of versions with vcs.
func ourSetup(source, destination string) error {
	_, err := vcs.Setup(context.Background(), vcs.SetupOptions{Source: source, Destination: destination})
	return err
}
