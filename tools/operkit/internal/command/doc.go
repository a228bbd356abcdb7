// Package command holds the commands of the program operkit: init writes a project, add component and add kind add to
// one.
//
// What a command was told wrongly it says before it writes anything; what it has written stays when something after
// that fails, and it says how to go on.
package command
