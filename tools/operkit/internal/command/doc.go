// Package command holds the commands of the program operkit: init writes a project, add component and add kind extend
// it, and update merges the changes of newer versions into it.
//
// A command reports wrong arguments before it writes anything. If something fails after that, the written files stay,
// and the command prints how to continue.
package command
