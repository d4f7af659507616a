import { chooseTask, task, TASKS } from '../state/tasks.ts'

/** Offers tasks: each fills prompts and format, and decides what is heard first. */
export function Tasks() {
  const { name, does, format } = task.value
  return (
    <fieldset class="tasks">
      <legend>Task</legend>
      <div class="choice">
        {TASKS.map((one) => (
          <button
            key={one.name}
            type="button"
            aria-pressed={one.name === name}
            onClick={() => chooseTask(one)}
          >
            {one.name}
          </button>
        ))}
      </div>
      <p role="status" class="quiet">
        {does}, in {format.toUpperCase()}.
      </p>
    </fieldset>
  )
}
