# fish completion for coursegate, written by `coursegate completion fish`.

function __coursegate_complete
    set -l word (commandline -ct)
    set -l offered (coursegate __complete -- (commandline -opc)[2..-1] "$word" 2>/dev/null)
    set -l flag (string match -r '^--[^=]*=' -- $word)
    set -l begun (string replace -r '^--[^=]*=' '' -- $word)
    switch "$offered"
        case :file
            printf "$flag%s\n" (__fish_complete_path $begun)
        case :folder
            printf "$flag%s\n" (__fish_complete_directories $begun)
        case '*'
            printf '%s\n' $offered
    end
end

complete -c coursegate -f -a '(__coursegate_complete)'
