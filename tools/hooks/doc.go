// Command hooks runs controllers whose functions are hooks: programs in any language that get a parent with its
// children as JSON and return the wanted children and the status. It reads the definitions of metacontroller.
//
//	hooks run --definitions ./controllers
package main
