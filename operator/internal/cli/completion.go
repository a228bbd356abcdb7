package cli

import (
	"context"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"
	"k8s.io/apimachinery/pkg/runtime/schema"
)

// completionLimit limits the time for which a shell waits for names from the cluster.
const completionLimit = 3 * time.Second

// completesOutput makes a shell complete the values of the flag --output.
func completesOutput(command *cobra.Command, values ...string) {
	// The only error is a flag that the command doesn't have.
	_ = command.RegisterFlagCompletionFunc("output", cobra.FixedCompletions(values, cobra.ShellCompDirectiveNoFileComp))
}

// completesNothing stops shells from completing file names in place of the arguments of commands that take no files.
func completesNothing(root *cobra.Command) {
	for _, command := range root.Commands() {
		if command.ValidArgsFunction == nil && len(command.ValidArgs) == 0 {
			command.ValidArgsFunction = cobra.NoFileCompletions
		}
	}
}

// completesResources makes a shell complete kinds and names of resources from the cluster.
func (o *Operator) completesResources(command *cobra.Command, s *selection) {
	_ = command.RegisterFlagCompletionFunc("namespace", cobra.NoFileCompletions)
	command.ValidArgsFunction = func(cmd *cobra.Command, args []string, begun string) ([]cobra.Completion, cobra.ShellCompDirective) {
		ctx, cancel := context.WithTimeout(cmd.Context(), completionLimit)
		defer cancel()
		cmd.SetContext(ctx)
		_, c, err := o.attach(cmd)
		if err != nil || s.all {
			return nil, cobra.ShellCompDirectiveNoFileComp
		}
		found := slices.DeleteFunc(s.completions(ctx, c, args, begun), func(one cobra.Completion) bool {
			word, _, _ := strings.Cut(one, "\t")
			return !strings.HasPrefix(word, begun) || slices.Contains(args, word)
		})
		return found, cobra.ShellCompDirectiveNoFileComp
	}
}

// completions returns the words that may come after args: kinds, if there are several and none is chosen yet, and names
// of resources. It leaves out what the cluster doesn't return.
func (s *selection) completions(ctx context.Context, c *connection, args []string, begun string) (found []cobra.Completion) {
	if word, _, separated := strings.Cut(begun, "/"); separated {
		if kind, known, _ := c.kindOf(ctx, word); known {
			for _, name := range s.names(ctx, c, kind) {
				found = append(found, word+"/"+name)
			}
		}
		return found
	}
	kinds := c.kinds
	if len(args) > 0 && !strings.Contains(args[0], "/") {
		if kind, known, _ := c.kindOf(ctx, args[0]); known {
			kinds = []schema.GroupVersionKind{kind}
		}
	}
	if len(args) == 0 && len(kinds) > 1 {
		for _, kind := range kinds {
			found = append(found, cobra.CompletionWithDesc(kindName(kinds, kind), "kind"))
		}
	}
	for _, kind := range kinds {
		for _, name := range s.names(ctx, c, kind) {
			found = append(found, cobra.CompletionWithDesc(name, kind.Kind))
		}
	}
	return found
}

// names returns the names of the resources of a kind, in the selected namespace.
func (s *selection) names(ctx context.Context, c *connection, kind schema.GroupVersionKind) (names []string) {
	objects, _ := s.list(ctx, c, meaning{kinds: []schema.GroupVersionKind{kind}}) // no names are better than an error here
	for _, obj := range objects {
		names = append(names, obj.GetName())
	}
	return names
}
